// main.cpp reads a program from the standard input, runs it and writes its
// buffers to the standard output.
//
// The input is lines, then the bytes of the buffers one after another:
//
//	seed N, isolated 0|1, early 0|1
//	buffer NAME LETTER COUNT          f, d, i or b: float, double, int32, byte
//	launch KERNEL GX GY GZ BX BY BZ DYNAMIC
//	pointer BUFFER OFFSET             the next argument: a buffer from an entry on
//	null                              the next argument: a pointer to nothing
//	integer VALUE                     the next argument
//	data
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "memory.h"
#include "program.h"

namespace hecate_shim {

namespace {

std::vector<char> read_all(int from) {
  std::vector<char> all(1 << 16);
  std::size_t n = 0;
  for (;;) {
    ssize_t got = read(from, all.data() + n, all.size() - n);
    if (got < 0) fail("world", "the program cannot be read");
    if (got == 0) break;
    n += std::size_t(got);
    if (n == all.size()) all.resize(2 * n);
  }
  all.resize(n);
  return all;
}

void write_all(int to, const char *data, std::size_t n) {
  while (n > 0) {
    ssize_t put = write(to, data, n);
    if (put <= 0) fail("world", "the buffers cannot be written");
    data += put;
    n -= std::size_t(put);
  }
}

}  // namespace

}  // namespace hecate_shim

extern "C" const char *__asan_default_options() {
  return "detect_leaks=0:exitcode=65:allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options() {
  return "halt_on_error=1:atexit_sleep_ms=0:exitcode=66:report_thread_leaks=0";
}

int main() {
  using namespace hecate_shim;
  // A kernel that prints must not print into the buffers.
  int out = dup(1);
  dup2(2, 1);
  catch_faults();
  Program p = parse(read_all(0));
  for (Call &c : p.calls) {
    c.launch.arguments = c.arguments.data();
    if (p.isolated)
      run_isolated(p, c.launch);
    else
      run_full(p, c.launch);
  }
  for (const Buffer &b : p.buffers) write_all(out, b.data, b.bytes());
  std::fflush(stdout);
  _exit(0);
}
