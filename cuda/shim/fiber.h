// fiber.h: one CUDA thread is one fiber, a stack and a place in the text. All
// fibers run on one thread of the system, and a fiber runs until it gives way.
#ifndef HECATE_FIBER_H
#define HECATE_FIBER_H

#include <cstddef>

#ifdef HECATE_UCONTEXT
#include <ucontext.h>
#elif !defined(__x86_64__)
#define HECATE_UCONTEXT
#include <ucontext.h>
#endif

namespace hecate_shim {

// A Fiber. The one that the process began with has no stack of its own.
struct Fiber {
#ifdef HECATE_UCONTEXT
  ucontext_t context;
#else
  void *sp = nullptr;
#endif
  char *stack = nullptr;  // its lowest byte
  std::size_t stack_bytes = 0;
  void *tsan = nullptr;  // the sanitizer's name for it
  void *asan = nullptr;  // the sanitizer's fake stack while it is away
};

// adopt makes a Fiber of what runs now.
void adopt(Fiber &f);

// equip gives a fiber its stack, with a page below it that nothing may touch.
// Reports of the thread sanitizer name it by its number.
void equip(Fiber &f, int number);

// prepare makes a fiber begin with `body` when it is next switched to. The
// upper part of its stack and its vector registers hold NaN, so that a value
// that was never set shows. `body` must end in a switch that does not return.
void prepare(Fiber &f, void (*body)());

// switch_to leaves `from` for `to`; it returns when something switches back.
// With `last`, nothing will.
void switch_to(Fiber &from, Fiber &to, bool last = false);

// arrived is the first thing that a fiber's body calls.
void arrived();

// release and acquire order memory between fibers for the thread sanitizer:
// what happened before a release at an address happened before what follows an
// acquire there. A switch orders nothing.
void release(void *at);
void acquire(void *at);

}  // namespace hecate_shim

#endif  // HECATE_FIBER_H
