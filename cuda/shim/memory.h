// memory.h: buffers that notice an access outside of them.
#ifndef HECATE_MEMORY_H
#define HECATE_MEMORY_H

#include <cstddef>

namespace hecate_shim {

// claim returns `bytes` of memory, 16-byte aligned and filled with ones (NaN,
// or -1). Under a sanitizer it is a heap block of exactly that size. Otherwise
// it ends at a page that nothing may touch, and the bytes before it and up to
// 15 after it are watched.
void *claim(std::size_t bytes, const char *name);

// claim_shared claims memory for one block; a thread of it may ask. `name` lives
// as long as the program. forget_shared gives back all of it.
void *claim_shared(std::size_t bytes, const char *name);
void forget_shared();

// fill_ones fills without the sanitizers' knowledge.
void fill_ones(void *at, std::size_t bytes);

// check_slack fails if the bytes around a claimed buffer were written.
void check_slack();

// catch_faults turns a fault into a report that names the nearest buffer.
void catch_faults();

}  // namespace hecate_shim

#endif  // HECATE_MEMORY_H
