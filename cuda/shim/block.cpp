// block.cpp: the threads of a block take turns.
//
// A thread runs until it waits or returns; then the next of those that are
// ready runs. At a barrier the last thread of the block to arrive makes all
// ready. At a shuffle or __syncwarp the last lane of the mask computes what
// every lane receives. When nobody is ready and somebody waits, the threads
// stand at different places and never meet: that is reported with all places.
//
// For the thread sanitizer a barrier orders the memory of the block and
// __syncwarp that of the lanes of its mask; a shuffle orders nothing, so that a
// missing __syncwarp shows. A thread releases when it arrives and acquires when
// it goes on, at an address that the next meeting does not use: a fast thread
// may be there before a slow one has acquired.
#include "block.h"

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "memory.h"
#include "thread.h"

uint3 blockIdx;
dim3 blockDim, gridDim;

namespace hecate_shim {

const Present *present;
const Launch *launch;
bool early;
std::vector<std::unique_ptr<Thread>> threads;
std::vector<Warp> warps;
int count;
Thread *running;

namespace {

// The most shared memory that a block can have, on sm_90.
constexpr std::size_t kMostShared = 227 << 10;

struct Shared {
  const char *place;
  void *memory;
};

Schedule *schedule;
Fiber home;
std::vector<Thread *> ready;  // a ring as long as the block
std::size_t ready_from, ready_count;
int at_barrier, returned;
unsigned barriers;
char barrier_slots[2], start_slot, end_slot;
std::vector<Shared> shared_arrays;
std::size_t shared_bytes;
void *dynamic_memory;

// describe lists the places where the threads of the block stand.
void describe(char *out, std::size_t size) {
  std::size_t n = 0;
  std::vector<bool> done(count);
  for (int i = 0; i < count && n < size; i++) {
    if (done[i]) continue;
    const Thread &t = *threads[i];
    int same = 0;
    for (int j = i; j < count; j++) {
      const Thread &u = *threads[j];
      bool equal = t.state == u.state &&
                   (t.state == kReturned || (t.kind == u.kind && same_place(t.file, t.line, u.file, u.line)));
      if (equal) done[j] = true, same++;
    }
    n += std::snprintf(out + n, size - n, "\n  %d of %d threads, the first (%u,%u,%u), ", same, count,
                       t.thread.x, t.thread.y, t.thread.z);
    if (n >= size) return;
    if (t.state == kReturned)
      n += std::snprintf(out + n, size - n, "have returned");
    else
      n += std::snprintf(out + n, size - n, "wait at %s, %s:%d", kNames[t.kind], t.file, t.line);
  }
}

void stuck() {
  char places[4096];
  describe(places, sizeof places);
  fail("barrier", "%s: threads wait at different places and never meet:%s", here(), places);
}

// next takes a thread that is ready, or null.
Thread *next() {
  if (ready_count == 0) return nullptr;
  std::size_t n = ready.size(), i = (ready_from + schedule->below(ready_count)) % n;
  Thread *t = ready[i];
  ready[i] = ready[ready_from];
  ready_from = (ready_from + 1) % n;
  ready_count--;
  return t;
}

void go(Thread *from, Thread *to, bool last = false) {
  if (to == from) return;
  running = to;
  present = to;
  switch_to(from->fiber, to->fiber, last);
}

void body() {
  arrived();
  acquire(&start_slot);
  launch->kernel->call(launch->arguments);
  Thread *self = running;
  wait_async(-1);
  release(&end_slot);
  self->state = kReturned;
  returned++;
  if (returned == count) switch_to(self->fiber, home, true);
  Thread *t = next();
  if (t == nullptr) stuck();
  go(self, t, true);
  std::abort();
}

}  // namespace

std::size_t Schedule::below(std::size_t n) {
  if (!random() || n < 2) return 0;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return std::size_t((state >> 11) % n);
}

bool same_place(const char *file, int line, const char *file2, int line2) {
  if (line != line2) return false;
  while (*file && *file == *file2) file++, file2++;
  return *file == *file2;
}

void wake(Thread *t) {
  t->state = kReady;
  ready[(ready_from + ready_count++) % ready.size()] = t;
}

void wait(Thread *self) {
  Thread *t = next();
  if (t == nullptr) stuck();
  go(self, t);
}

void barrier(const char *file, int line) {
  Thread *self = running;
  self->kind = kBarrier, self->file = file, self->line = line;
  char *slot = &barrier_slots[barriers & 1];
  release(slot);
  self->state = kWaiting;
  if (++at_barrier == count) {
    for (int i = 0; i < count; i++)
      if (!same_place(threads[i]->file, threads[i]->line, file, line)) stuck();
    at_barrier = 0;
    barriers++;
    for (int i = 0; i < count; i++) wake(threads[i].get());
  }
  wait(self);
  acquire(slot);
}

void *shared(const char *place, unsigned long bytes, const char *name) {
  for (const Shared &s : shared_arrays)
    if (s.place == place) return s.memory;
  shared_bytes += bytes;
  if (shared_bytes > kMostShared || shared_arrays.size() == shared_arrays.capacity())
    fail("call", "%s: %zu bytes of shared memory", here(), shared_bytes);
  shared_arrays.push_back({place, claim_shared(bytes, name)});
  return shared_arrays.back().memory;
}

void *array(const char *place, unsigned long bytes, unsigned long end, const char *name) {
  if (end > launch->dynamic_bytes)
    fail("call", "%s: %zu bytes of dynamic shared memory, %s ends at %lu", here(), launch->dynamic_bytes, name, end);
  return shared(place, bytes, name);
}

void *dynamic() { return dynamic_memory; }

namespace {

// begin makes the memory of a block.
void begin(const Launch &l, uint3 block) {
  launch = &l;
  blockIdx = block, blockDim = l.block, gridDim = l.grid;
  count = int(l.block.x * l.block.y * l.block.z);
  shared_arrays.clear();
  shared_arrays.reserve(256);
  shared_bytes = l.dynamic_bytes;
  forget_shared();
  if (shared_bytes > kMostShared) fail("call", "%s: %zu bytes of shared memory", here(), shared_bytes);
  dynamic_memory = claim_shared(l.dynamic_bytes, "dynamic shared memory");
}

uint3 number(const Launch &l, unsigned n) { return {n % l.block.x, n / l.block.x % l.block.y, n / l.block.x / l.block.y}; }

}  // namespace

void run_in_turn(const Launch &l, uint3 block) {
  begin(l, block);
  Present thread;
  present = &thread;
  for (unsigned n = 0; n < unsigned(count); n++) {
    thread.thread = number(l, n);
    l.kernel->call(l.arguments);
  }
}

void run_block(const Launch &l, uint3 block, Schedule &s, bool early_copies) {
  schedule = &s, early = early_copies;
  begin(l, block);
  at_barrier = returned = 0;
  barriers = 0;
  ready.assign(std::size_t(count), nullptr);
  ready_from = ready_count = 0;
  warps.assign(std::size_t((count + kLanes - 1) / kLanes), Warp());
  for (int i = 0; i < count; i++) {
    if (int(threads.size()) == i) {
      threads.push_back(std::make_unique<Thread>());
      equip(threads[i]->fiber, i);
    }
    Thread *t = threads[i].get();
    t->thread = number(l, unsigned(i));
    t->index = i;
    t->copies.clear();
    prepare(t->fiber, body);
    wake(t);
  }
  adopt(home);
  release(&start_slot);
  running = next();
  present = running;
  switch_to(home, running->fiber);
  running = nullptr;
  acquire(&end_slot);
}

}  // namespace hecate_shim
