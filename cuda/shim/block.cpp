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

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "fiber.h"
#include "memory.h"

uint3 blockIdx;
dim3 blockDim, gridDim;

namespace hecate_shim {

const Present *present;

namespace {

constexpr int kLanes = 32;

// The most shared memory that a block can have, on sm_90.
constexpr std::size_t kMostShared = 227 << 10;

enum State { kReady, kWaiting, kReturned };

struct Copy {
  void *to;
  const void *from;
  int bytes;
};

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
  char *slot;  // where the memory of this meeting is ordered
  std::deque<std::vector<Copy>> copies;  // committed groups, then the open one
};

// A Gathering is a meeting of lanes that has begun.
struct Gathering {
  unsigned mask, arrived;
  Thread *first;
  char *slot;
};

struct Warp {
  Gathering open[kLanes];  // of disjoint masks
  int opened;
  char slots[16];
  unsigned used;
};

struct Shared {
  const char *place;
  void *memory;
};

const Launch *launch;
Schedule *schedule;
bool early;
Fiber home;
std::vector<std::unique_ptr<Thread>> threads;
std::vector<Warp> warps;
std::vector<Thread *> ready;  // a ring as long as the block
std::size_t ready_from, ready_count;
int count, at_barrier, returned;
unsigned barriers;
char barrier_slots[2], start_slot, end_slot;
std::vector<Shared> shared_arrays;
std::size_t shared_bytes;
void *dynamic_memory;
Thread *running;

const char *const kNames[] = {"__syncthreads", "__syncwarp", "__shfl_sync",
                              "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"};

bool same_place(const char *file, int line, const char *file2, int line2) {
  if (line != line2) return false;
  while (*file && *file == *file2) file++, file2++;
  return *file == *file2;
}

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
      bool equal = t.state == u.state && (t.state == kReturned || (t.kind == u.kind && same_place(t.file, t.line, u.file, u.line)));
      if (equal) done[j] = true, same++;
    }
    n += std::snprintf(out + n, size - n, "\n  %d of %d threads, the first (%u,%u,%u), ", same, count, t.thread.x, t.thread.y, t.thread.z);
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

void wake(Thread *t) {
  t->state = kReady;
  ready[(ready_from + ready_count++) % ready.size()] = t;
}

void go(Thread *from, Thread *to, bool last = false) {
  if (to == from) return;
  running = to;
  present = to;
  switch_to(from->fiber, to->fiber, last);
}

// wait gives way until somebody wakes the thread.
void wait(Thread *self) {
  Thread *t = next();
  if (t == nullptr) stuck();
  go(self, t);
}

void body() {
  arrived();
  acquire(&start_slot);
  launch->kernel->call(launch->arguments);
  Thread *self = running;
  release(&end_slot);
  self->state = kReturned;
  returned++;
  if (returned == count) switch_to(self->fiber, home, true);
  Thread *t = next();
  if (t == nullptr) stuck();
  go(self, t, true);
  std::abort();
}

// source is the lane that a shuffle reads: CUDA's rules for groups of `width`.
int source(const Thread *t, int lane) {
  int group = lane & ~(t->width - 1), at = lane & (t->width - 1);
  switch (t->kind) {
    case kIndex:
      return group + (t->lane & (t->width - 1));
    case kUp:
      return at < t->lane ? lane : lane - t->lane;
    case kDown:
      return at + t->lane >= t->width ? lane : lane + t->lane;
    case kXor: {
      int from = lane ^ t->lane;
      return from >= group + t->width ? lane : from;
    }
    default:
      return lane;
  }
}

// settle gives each lane of a gathering what it receives and makes it ready.
void settle(const Gathering &g, int base) {
  for (int lane = 0; lane < kLanes; lane++) {
    if (!(g.mask >> lane & 1)) continue;
    Thread *t = threads[base + lane].get();
    int from = source(t, lane);
    if (from < 0 || from >= kLanes || !(g.mask >> from & 1))
      fail("warp", "%s: %s at %s:%d: lane %d reads lane %d, which the mask %#x does not name", here(), kNames[t->kind], t->file, t->line, lane, from, g.mask);
    t->got = threads[base + from]->brought;
  }
  for (int lane = 0; lane < kLanes; lane++)
    if (g.mask >> lane & 1) wake(threads[base + lane].get());
}

// gathering finds the meeting that a thread joins, or begins one.
Gathering &gathering(Warp &w, Thread *self, unsigned mask) {
  for (int i = 0; i < w.opened; i++) {
    Gathering &g = w.open[i];
    if (!(g.mask & mask)) continue;
    const Thread *f = g.first;
    if (g.mask != mask || f->kind != self->kind || !same_place(f->file, f->line, self->file, self->line))
      fail("warp", "%s: lanes of a warp meet at different places: %s with mask %#x at %s:%d, and %s with mask %#x at %s:%d", here(), kNames[self->kind], mask, self->file, self->line, kNames[f->kind], g.mask, f->file, f->line);
    return g;
  }
  w.open[w.opened] = {mask, 0, self, &w.slots[w.used++ % sizeof w.slots]};
  return w.open[w.opened++];
}

// check_mask refuses a mask that the running thread may not pass.
void check_mask(const Thread *self, unsigned mask, int base, const char *what, const char *file, int line) {
  int lane = self->index - base;
  if (!(mask >> lane & 1))
    fail("warp", "%s: %s at %s:%d: the mask %#x does not name lane %d, which calls", here(), what, file, line, mask, lane);
  for (int l = 0; l < kLanes; l++) {
    if (!(mask >> l & 1)) continue;
    if (base + l >= count)
      fail("warp", "%s: %s at %s:%d: the mask %#x names lane %d, and the warp has %d", here(), what, file, line, mask, l, count - base);
    if (threads[base + l]->state == kReturned)
      fail("warp", "%s: %s at %s:%d: the mask %#x names lane %d, which has returned", here(), what, file, line, mask, l);
  }
}

void land(const Copy &c) {
  std::memcpy(c.to, c.from, std::size_t(c.bytes));
}

}  // namespace

std::size_t Schedule::below(std::size_t n) {
  if (!random() || n < 2) return 0;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return std::size_t((state >> 11) % n);
}

void fail(const char *kind, const char *format, ...) {
  std::fflush(stdout);
  std::fprintf(stderr, "hecate-shim: %s: ", kind);
  va_list args;
  va_start(args, format);
  std::vfprintf(stderr, format, args);
  va_end(args);
  std::fputc('\n', stderr);
  std::fflush(stderr);
  _exit(3);
}

const char *here() {
  static char text[256];
  if (launch == nullptr) return "before a launch";
  int n = std::snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u)", launch->kernel->name, blockIdx.x, blockIdx.y, blockIdx.z);
  if (running != nullptr)
    std::snprintf(text + n, sizeof text - n, ", thread (%u,%u,%u)", running->thread.x, running->thread.y, running->thread.z);
  return text;
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

unsigned long long exchange(Meeting kind, unsigned mask, unsigned long long bits, int lane, int width, const char *file, int line) {
  Thread *self = running;
  int base = self->index / kLanes * kLanes;
  check_mask(self, mask, base, kNames[kind], file, line);
  if (width < 1 || width > kLanes || (width & (width - 1)))
    fail("warp", "%s: %s at %s:%d: a width of %d is no power of two up to 32", here(), kNames[kind], file, line, width);
  self->kind = kind, self->file = file, self->line = line;
  self->brought = bits, self->lane = lane, self->width = width;
  self->state = kWaiting;
  Warp &w = warps[std::size_t(self->index / kLanes)];
  Gathering &g = gathering(w, self, mask);
  char *slot = g.slot;
  if (kind == kSyncWarp) release(slot);
  g.arrived |= 1u << (self->index - base);
  if (g.arrived == mask) {
    Gathering all = g;
    g = w.open[--w.opened];
    settle(all, base);
  }
  wait(self);
  if (kind == kSyncWarp) acquire(slot);
  return self->got;
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

void *dynamic() { return dynamic_memory; }

void copy_async(void *to, const void *from, int bytes) {
  Thread *self = running;
  Copy c = {to, from, bytes};
  if (early) return land(c);
  if (self->copies.empty()) self->copies.emplace_back();
  self->copies.back().push_back(c);
}

void commit_async() {
  if (running->copies.empty()) running->copies.emplace_back();
  running->copies.emplace_back();
}

void wait_async(int open) {
  Thread *self = running;
  while (int(self->copies.size()) - 1 > open) {
    for (const Copy &c : self->copies.front()) land(c);
    self->copies.pop_front();
  }
}

void run_block(const Launch &l, uint3 block, Schedule &s, bool early_copies) {
  launch = &l, schedule = &s, early = early_copies;
  blockIdx = block, blockDim = l.block, gridDim = l.grid;
  count = int(l.block.x * l.block.y * l.block.z);
  at_barrier = returned = 0;
  barriers = 0;
  ready.assign(std::size_t(count), nullptr);
  ready_from = ready_count = 0;
  warps.assign(std::size_t((count + kLanes - 1) / kLanes), Warp());
  shared_arrays.clear();
  shared_arrays.reserve(256);
  shared_bytes = l.dynamic_bytes;
  forget_shared();
  dynamic_memory = claim_shared(l.dynamic_bytes, "dynamic shared memory");
  for (int i = 0; i < count; i++) {
    if (int(threads.size()) == i) {
      threads.push_back(std::make_unique<Thread>());
      equip(threads[i]->fiber);
    }
    Thread *t = threads[i].get();
    unsigned n = unsigned(i);
    t->thread = {n % l.block.x, n / l.block.x % l.block.y, n / l.block.x / l.block.y};
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
