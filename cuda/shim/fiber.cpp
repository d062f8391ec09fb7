// fiber.cpp switches stacks: by hand on x86-64, through ucontext elsewhere (or
// with HECATE_UCONTEXT). The sanitizers are told of each switch. For the thread
// sanitizer the flag 1 says that a switch orders no memory: if it did, no two
// accesses of two fibers could ever race.
#include "fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#ifdef HECATE_TSAN
#include <sanitizer/tsan_interface.h>
#endif
#ifdef HECATE_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace hecate_shim {

namespace {

#if defined(HECATE_ASAN) || defined(HECATE_TSAN)
constexpr std::size_t kStack = 512 << 10;  // instrumented frames are several times as long
#else
constexpr std::size_t kStack = 256 << 10;
#endif

// How much of a stack is filled before a thread begins: registers that were
// spilled lie in the first frames.
constexpr std::size_t kFilled = 4 << 10;

#ifdef HECATE_ASAN
Fiber *leaving;  // who switched last, for the sanitizer
#endif

}  // namespace

#ifdef HECATE_UCONTEXT

void adopt(Fiber &f) {
#ifdef HECATE_TSAN
  f.tsan = __tsan_get_current_fiber();
#else
  (void)f;
#endif
}

static void enter(Fiber &f, void (*body)()) {
  getcontext(&f.context);
  f.context.uc_stack.ss_sp = f.stack;
  f.context.uc_stack.ss_size = f.stack_bytes;
  f.context.uc_link = nullptr;
  makecontext(&f.context, body, 0);
}

static void change(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }

#else

// A stack that is away ends, from its top, in r15, r14, r13, r12, rbx, rbp and
// the address to return to.
extern "C" void hecate_shim_change(void **from, void *to);
extern "C" void hecate_shim_begin();
asm(R"(
.text
.p2align 4
.globl hecate_shim_change
.type hecate_shim_change, @function
hecate_shim_change:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hecate_shim_change, .-hecate_shim_change

.p2align 4
.globl hecate_shim_begin
.type hecate_shim_begin, @function
hecate_shim_begin:
  pcmpeqd %xmm0, %xmm0
  movdqa %xmm0, %xmm1
  movdqa %xmm0, %xmm2
  movdqa %xmm0, %xmm3
  movdqa %xmm0, %xmm4
  movdqa %xmm0, %xmm5
  movdqa %xmm0, %xmm6
  movdqa %xmm0, %xmm7
  movdqa %xmm0, %xmm8
  movdqa %xmm0, %xmm9
  movdqa %xmm0, %xmm10
  movdqa %xmm0, %xmm11
  movdqa %xmm0, %xmm12
  movdqa %xmm0, %xmm13
  movdqa %xmm0, %xmm14
  movdqa %xmm0, %xmm15
  xorl %ebp, %ebp
  callq *%r12
  ud2
.size hecate_shim_begin, .-hecate_shim_begin
)");

void adopt(Fiber &f) {
#ifdef HECATE_TSAN
  f.tsan = __tsan_get_current_fiber();
#else
  (void)f;
#endif
}

static void enter(Fiber &f, void (*body)()) {
  auto top = reinterpret_cast<std::uintptr_t>(f.stack + f.stack_bytes) & ~std::uintptr_t(15);
  auto sp = reinterpret_cast<void **>(top) - 9;  // begin's call leaves the stack as the ABI wants it
  sp[0] = sp[1] = sp[2] = nullptr;               // r15, r14, r13
  sp[3] = reinterpret_cast<void *>(body);        // r12
  sp[4] = sp[5] = nullptr;                       // rbx, rbp
  sp[6] = reinterpret_cast<void *>(hecate_shim_begin);
  f.sp = sp;
}

static void change(Fiber &from, Fiber &to) { hecate_shim_change(&from.sp, to.sp); }

#endif

void equip(Fiber &f, int number) {
  auto page = std::size_t(sysconf(_SC_PAGESIZE));
  void *p = mmap(nullptr, kStack + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (p == MAP_FAILED || mprotect(p, page, PROT_NONE) != 0) {
    std::perror("hecate-shim: world: a stack");
    std::exit(3);
  }
  f.stack = static_cast<char *>(p) + page;
  f.stack_bytes = kStack;
#ifdef HECATE_TSAN
  f.tsan = __tsan_create_fiber(0);
  char name[48];
  std::snprintf(name, sizeof name, "thread %d of the block", number);
  __tsan_set_fiber_name(f.tsan, name);
#else
  (void)number;
#endif
}

void prepare(Fiber &f, void (*body)()) {
  auto word = reinterpret_cast<volatile std::uint64_t *>(f.stack + f.stack_bytes - kFilled);
  for (std::size_t i = 0; i < kFilled / 8; i++) word[i] = ~std::uint64_t(0);
  enter(f, body);
  f.asan = nullptr;
}

// landed tells the address sanitizer which stack runs now. The process's own
// stack becomes known when it is first left.
static void landed(void *fake) {
#ifdef HECATE_ASAN
  const void *bottom;
  std::size_t size;
  __sanitizer_finish_switch_fiber(fake, &bottom, &size);
  if (leaving->stack == nullptr) {
    leaving->stack = const_cast<char *>(static_cast<const char *>(bottom));
    leaving->stack_bytes = size;
  }
#else
  (void)fake;
#endif
}

void switch_to(Fiber &from, Fiber &to, bool last) {
#ifdef HECATE_TSAN
  __tsan_switch_to_fiber(to.tsan, 1);
#endif
#ifdef HECATE_ASAN
  leaving = &from;
  __sanitizer_start_switch_fiber(last ? nullptr : &from.asan, to.stack, to.stack_bytes);
#endif
  (void)last;
  change(from, to);
  landed(from.asan);
}

void arrived() { landed(nullptr); }

void release(void *at) {
#ifdef HECATE_TSAN
  __tsan_release(at);
#else
  (void)at;
#endif
}

void acquire(void *at) {
#ifdef HECATE_TSAN
  __tsan_acquire(at);
#else
  (void)at;
#endif
}

}  // namespace hecate_shim
