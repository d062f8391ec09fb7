// report.cpp ends the process with words.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "thread.h"

namespace hecate_shim {

const char *const kNames[] = {"__syncthreads",  "__syncwarp",       "__shfl_sync",
                              "__shfl_up_sync", "__shfl_down_sync", "__shfl_xor_sync"};

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
  int n = std::snprintf(text, sizeof text, "kernel %s, block (%u,%u,%u)", launch->kernel->name, blockIdx.x,
                        blockIdx.y, blockIdx.z);
  if (running != nullptr)
    std::snprintf(text + n, sizeof text - n, ", thread (%u,%u,%u)", running->thread.x, running->thread.y,
                  running->thread.z);
  return text;
}

}  // namespace hecate_shim
