// memory.cpp: a buffer lies at the end of its pages, between two stretches of
// pages without access: a read or write past its end faults at once, and one
// before its start is seen afterwards, by the bytes there, unless it reaches
// the stretch. The address sanitizer knows better, and has heap blocks.
#include "memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "block.h"

namespace hecate_shim {

namespace {

constexpr std::size_t kGuard = 1 << 20;

struct Region {
  const char *name;
  unsigned char *low, *start, *end, *high;  // pages, buffer, buffer, pages
};
std::vector<Region> regions;

#if !defined(HECATE_ASAN) && !defined(HECATE_TSAN)

void on_fault(int, siginfo_t *info, void *) {
  auto at = static_cast<unsigned char *>(info->si_addr);
  for (const Region &r : regions) {
    if (at >= r.high && at < r.high + kGuard)
      fail("bounds", "%s: access %zu bytes past the end of %s", here(), std::size_t(at - r.end), r.name);
    if (at >= r.low - kGuard && at < r.low)
      fail("bounds", "%s: access %zu bytes before the start of %s", here(), std::size_t(r.start - at),
           r.name);
  }
  if (reinterpret_cast<std::uintptr_t>(at) < kGuard)
    fail("bounds", "%s: access through a null pointer", here());
  fail("bounds",
       "%s: access to an address near no buffer (a stack of local arrays too large, or an index far out)",
       here());
}

#endif

}  // namespace

void fill_ones(void *at, std::size_t bytes) {
  auto p = static_cast<volatile unsigned char *>(at);
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) *reinterpret_cast<volatile std::uint64_t *>(p + i) = ~std::uint64_t(0);
  for (; i < bytes; i++) p[i] = 0xff;
}

#if defined(HECATE_ASAN) || defined(HECATE_TSAN)

void *claim(std::size_t bytes, const char *name) {
  void *p = std::malloc(bytes);
  if (p == nullptr) fail("world", "no memory for %s", name);
  fill_ones(p, bytes);
  return p;
}

void check_slack() {}
void catch_faults() {}

#else

void *claim(std::size_t bytes, const char *name) {
  auto page = std::size_t(sysconf(_SC_PAGESIZE));
  std::size_t aligned = (bytes + 15) / 16 * 16, pages = (aligned + page - 1) / page * page;
  if (pages == 0) pages = page;
  void *p = mmap(nullptr, pages + 2 * kGuard, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || mprotect(static_cast<char *>(p) + kGuard, pages, PROT_READ | PROT_WRITE) != 0)
    fail("world", "no memory for %s", name);
  Region r;
  r.name = name;
  r.low = static_cast<unsigned char *>(p) + kGuard;
  r.high = r.low + pages;
  r.start = r.high - aligned;
  r.end = r.start + bytes;
  fill_ones(r.low, pages);
  regions.push_back(r);
  return r.start;
}

void check_slack() {
  for (const Region &r : regions) {
    for (auto p = r.end; p < r.high; p++)
      if (*p != 0xff)
        fail("bounds", "%s: wrote %zu bytes past the end of %s", here(), std::size_t(p - r.end), r.name);
    for (auto p = r.start; p-- > r.low;)
      if (*p != 0xff)
        fail("bounds", "%s: wrote %zu bytes before the start of %s", here(), std::size_t(r.start - p),
             r.name);
  }
}

void catch_faults() {
  stack_t own = {};
  own.ss_size = 64 << 10;
  own.ss_sp = std::malloc(own.ss_size);
  sigaltstack(&own, nullptr);
  struct sigaction act = {};
  act.sa_sigaction = on_fault;
  act.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &act, nullptr);
  sigaction(SIGBUS, &act, nullptr);
}

#endif

#ifdef HECATE_TSAN

// What one thread allocates is its own to the thread sanitizer, so shared memory
// is cut from memory that the process began with.
alignas(16) static unsigned char arena[256 << 10];
static std::size_t arena_used;

void *claim_shared(std::size_t bytes, const char *name) {
  std::size_t aligned = (bytes + 15) / 16 * 16;
  if (aligned > sizeof arena - arena_used) fail("call", "%s: %s does not fit", here(), name);
  void *p = arena + arena_used;
  arena_used += aligned;
  fill_ones(p, bytes);
  return p;
}

void forget_shared() { arena_used = 0; }

#else

struct Piece {
  const char *name;
  std::size_t bytes;
  void *memory;
  bool used;
};
static std::vector<Piece> pieces;

void *claim_shared(std::size_t bytes, const char *name) {
  for (Piece &p : pieces) {
    if (p.used || p.bytes != bytes || p.name != name) continue;
    p.used = true;
    fill_ones(p.memory, bytes);
    return p.memory;
  }
  pieces.push_back({name, bytes, claim(bytes, name), true});
  return pieces.back().memory;
}

void forget_shared() {
  for (Piece &p : pieces) p.used = false;
}

#endif

}  // namespace hecate_shim
