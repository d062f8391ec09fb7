// block.h: runs the threads of one block until all have returned.
#ifndef HECATE_BLOCK_H
#define HECATE_BLOCK_H

#include <cstddef>
#include <cstdint>

#include "entry.h"
#include "shim.h"

namespace hecate_shim {

struct Launch {
  const Kernel *kernel;
  const Argument *arguments;
  dim3 grid, block;
  std::size_t dynamic_bytes;
};

// A Schedule is the order in which threads and blocks take turns: by number for
// seed 0, else at random from the seed.
struct Schedule {
  std::uint64_t state = 0;
  bool random() const { return state != 0; }
  // below returns a number in [0, n), 0 for an orderly schedule.
  std::size_t below(std::size_t n);
};

// run_block runs one block of a launch. With early copies an asynchronous copy
// lands where it is issued, else where its group is waited for.
void run_block(const Launch &launch, uint3 block, Schedule &schedule, bool early_copies);

// run_in_turn runs the threads of a block one after another, of a kernel in which
// none waits.
void run_in_turn(const Launch &launch, uint3 block);

// here says which kernel, block and thread run now, for reports.
const char *here();

// fail prints what is wrong, of one of the kinds of internal/cudashim, and ends
// the process.
[[noreturn]] void fail(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace hecate_shim

#endif  // HECATE_BLOCK_H
