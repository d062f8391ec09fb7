// warp.cpp: the lanes of a warp meet at shuffles and at __syncwarp, and copies
// that do not wait land.
//
// A lane that arrives leaves what it brought and waits. The last one of the mask
// computes what every lane receives. Whoever names a lane that does not come, or
// reads one that the mask does not name, is refused: the device would deliver
// anything.
#include <cstring>

#include "thread.h"

namespace hecate_shim {

namespace {

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
      fail("warp", "%s: %s at %s:%d: lane %d reads lane %d, which the mask %#x does not name", here(),
           kNames[t->kind], t->file, t->line, lane, from, g.mask);
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
      fail("warp",
           "%s: lanes of a warp meet at different places: %s with mask %#x at %s:%d, and %s with mask %#x at "
           "%s:%d",
           here(), kNames[self->kind], mask, self->file, self->line, kNames[f->kind], g.mask, f->file,
           f->line);
    return g;
  }
  w.open[w.opened] = {mask, 0, self, &w.slots[w.used++ % sizeof w.slots]};
  return w.open[w.opened++];
}

// check_mask refuses a mask that the running thread may not pass.
void check_mask(const Thread *self, unsigned mask, int base, const char *what, const char *file, int line) {
  int lane = self->index - base;
  if (!(mask >> lane & 1))
    fail("warp", "%s: %s at %s:%d: the mask %#x does not name lane %d, which calls", here(), what, file, line,
         mask, lane);
  for (int l = 0; l < kLanes; l++) {
    if (!(mask >> l & 1)) continue;
    if (base + l >= count)
      fail("warp", "%s: %s at %s:%d: the mask %#x names lane %d, and the warp has %d", here(), what, file,
           line, mask, l, count - base);
    if (threads[base + l]->state == kReturned)
      fail("warp", "%s: %s at %s:%d: the mask %#x names lane %d, which has returned", here(), what, file,
           line, mask, l);
  }
}

// land does a copy as the running thread. The sanitizers see it.
void land(const Copy &c) { std::memcpy(c.to, c.from, std::size_t(c.bytes)); }

}  // namespace

unsigned long long exchange(Meeting kind, unsigned mask, unsigned long long bits, int lane, int width,
                            const char *file, int line) {
  Thread *self = running;
  int base = self->index / kLanes * kLanes;
  check_mask(self, mask, base, kNames[kind], file, line);
  if (width < 1 || width > kLanes || (width & (width - 1)))
    fail("warp", "%s: %s at %s:%d: a width of %d is no power of two up to 32", here(), kNames[kind], file,
         line, width);
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
  while (int(self->copies.size()) - 1 > open && !self->copies.empty()) {
    for (const Copy &c : self->copies.front()) land(c);
    self->copies.pop_front();
  }
}

}  // namespace hecate_shim
