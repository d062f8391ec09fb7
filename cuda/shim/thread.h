// thread.h is what the parts of the shim know of the threads of a block.
#ifndef HECATE_THREAD_H
#define HECATE_THREAD_H

#include <deque>
#include <memory>
#include <vector>

#include "block.h"
#include "fiber.h"
#include "shim.h"

namespace hecate_shim {

constexpr int kLanes = 32;

enum State { kReady, kWaiting, kReturned };

// A Copy has been issued and has not landed.
struct Copy {
  void *to;
  const void *from;
  int bytes;
};

// A Thread and where it stands.
struct Thread : Present {
  int index;
  State state;
  Fiber fiber;
  // Where it waits, what it brought and what it gets.
  Meeting kind;
  const char *file;
  int line;
  unsigned long long brought, got;
  int lane, width;
  char *slot;                            // where the memory of this meeting is ordered
  std::deque<std::vector<Copy>> copies;  // committed groups, then the open one
};

// A Gathering is a meeting of lanes that has begun.
struct Gathering {
  unsigned mask, arrived;
  Thread *first;
  char *slot;
};

// A Warp and the meetings of its lanes that have begun.
struct Warp {
  Gathering open[kLanes];  // of disjoint masks
  int opened;
  char slots[16];
  unsigned used;
};

// kNames are the names of meetings.
extern const char *const kNames[];

// The block that runs.
extern const Launch *launch;
extern bool early;  // copies land where they are issued
extern std::vector<std::unique_ptr<Thread>> threads;
extern std::vector<Warp> warps;
extern int count;  // threads of the block
extern Thread *running;

// wake makes a thread ready.
void wake(Thread *t);

// wait gives way until somebody wakes the thread.
void wait(Thread *self);

// same_place compares two places in the text. It calls no library, which a
// sanitizer would see.
bool same_place(const char *file, int line, const char *file2, int line2);

}  // namespace hecate_shim

#endif  // HECATE_THREAD_H
