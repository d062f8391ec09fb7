// program.h: what one run does, and how.
#ifndef HECATE_PROGRAM_H
#define HECATE_PROGRAM_H

#include <string>
#include <vector>

#include "block.h"

namespace hecate_shim {

struct Buffer {
  std::string name;
  char letter;
  std::size_t size, count;  // of an entry in bytes, and of entries
  char *data;
  std::size_t bytes() const { return size * count; }
};

struct Call {
  Launch launch;
  std::vector<Argument> arguments;
  std::vector<char> letters;
};

struct Program {
  Schedule schedule;
  bool isolated = false, early = false;
  std::vector<Buffer> buffers;
  std::vector<Call> calls;
};

// parse reads a program as main.cpp describes it.
Program parse(const std::vector<char> &all);

// run_full runs the blocks of a launch one after another.
void run_full(Program &p, const Launch &l);

// run_isolated does that, and runs every block alone, too.
void run_isolated(Program &p, const Launch &l);

}  // namespace hecate_shim

#endif  // HECATE_PROGRAM_H
