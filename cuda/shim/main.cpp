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
//
// A launch runs its blocks one after another. Isolated, each block is run alone
// too, from the buffers as the launch found them: the entries that blocks write
// must be disjoint, and together they must be what the full run wrote. A write
// of the value that was there before does not show.
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "block.h"
#include "entry.h"
#include "memory.h"

namespace hecate_shim {

namespace {

std::vector<Kernel> &kernels() {
  static std::vector<Kernel> table;
  return table;
}

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

std::size_t size_of(char letter) {
  switch (letter) {
    case 'd':
      return 8;
    case 'b':
      return 1;
    default:
      return 4;
  }
}

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

const Kernel *find(const char *name) {
  for (const Kernel &k : kernels())
    if (!std::strcmp(k.name, name)) return &k;
  fail("call", "there is no kernel %s", name);
}

void add_buffer(Program &p, const char *line) {
  char name[128], letter;
  std::size_t n;
  if (std::sscanf(line, "buffer %127s %c %zu", name, &letter, &n) != 3) fail("call", "not understood: %s", line);
  Buffer b = {name, letter, size_of(letter), n, nullptr};
  b.data = static_cast<char *>(claim(b.bytes(), strdup(name)));
  p.buffers.push_back(b);
}

void add_launch(Program &p, const char *line) {
  char name[128];
  Launch l = {};
  if (std::sscanf(line, "launch %127s %u %u %u %u %u %u %zu", name, &l.grid.x, &l.grid.y, &l.grid.z, &l.block.x, &l.block.y, &l.block.z, &l.dynamic_bytes) != 8)
    fail("call", "not understood: %s", line);
  l.kernel = find(name);
  std::size_t threads = std::size_t(l.block.x) * l.block.y * l.block.z;
  if (threads == 0 || threads > std::size_t(l.kernel->threads))
    fail("call", "kernel %s is launched with %zu threads in a block and declares %d", name, threads, l.kernel->threads);
  p.calls.push_back({l, {}, {}});
}

void add_argument(Program &p, const char *line) {
  Argument a = {};
  char letter = 'n';
  std::size_t buffer, offset;
  if (std::sscanf(line, "pointer %zu %zu", &buffer, &offset) == 2 && buffer < p.buffers.size() && offset <= p.buffers[buffer].count) {
    const Buffer &b = p.buffers[buffer];
    a.pointer = b.data + offset * b.size;
    letter = b.letter;
  } else if (!std::strcmp(line, "null")) {
    a.pointer = nullptr;
    letter = '0';
  } else if (std::sscanf(line, "integer %lld", &a.integer) != 1) {
    fail("call", "not understood: %s", line);
  }
  if (p.calls.empty()) fail("call", "an argument before a launch");
  p.calls.back().arguments.push_back(a);
  p.calls.back().letters.push_back(letter);
}

// check holds the arguments of a call to the parameters of its kernel.
void check(const Call &c) {
  const Kernel &k = *c.launch.kernel;
  std::string got(c.letters.begin(), c.letters.end());
  if (got == k.letters) return;
  if (got.size() != std::strlen(k.letters))
    fail("call", "kernel %s has %zu parameters and got %zu arguments", k.name, std::strlen(k.letters), got.size());
  for (std::size_t i = 0; i < got.size(); i++)
    if (got[i] != k.letters[i] && (got[i] != '0' || k.letters[i] == 'n'))
      fail("call", "argument %zu of kernel %s is of type %c, its parameter of type %c (f, d, i, b: pointers to float, double, int, byte; n: an integer)", i + 1, k.name, got[i], k.letters[i]);
}

Program parse(const std::vector<char> &all) {
  Program p;
  std::size_t at = 0;
  for (;;) {
    auto end = static_cast<const char *>(std::memchr(all.data() + at, '\n', all.size() - at));
    if (end == nullptr) fail("call", "the program has no data");
    std::string line(all.data() + at, end);
    at = std::size_t(end - all.data()) + 1;
    std::string word = line.substr(0, line.find(' '));
    int on;
    if (word == "data") break;
    if (word == "seed" && std::sscanf(line.c_str(), "seed %" SCNu64, &p.schedule.state) == 1) continue;
    if (word == "isolated" && std::sscanf(line.c_str(), "isolated %d", &on) == 1) p.isolated = on;
    else if (word == "early" && std::sscanf(line.c_str(), "early %d", &on) == 1) p.early = on;
    else if (word == "buffer") add_buffer(p, line.c_str());
    else if (word == "launch") add_launch(p, line.c_str());
    else add_argument(p, line.c_str());
  }
  for (Buffer &b : p.buffers) {
    if (all.size() - at < b.bytes()) fail("call", "the data of %s is short", b.name.c_str());
    if (b.bytes() > 0) std::memcpy(b.data, all.data() + at, b.bytes());
    at += b.bytes();
  }
  for (Call &c : p.calls) check(c);
  return p;
}

using Snapshot = std::vector<std::vector<char>>;

Snapshot take(const Program &p) {
  Snapshot s;
  for (const Buffer &b : p.buffers) s.emplace_back(b.data, b.data + b.bytes());
  return s;
}

void restore(Program &p, const Snapshot &s) {
  for (std::size_t i = 0; i < s.size(); i++)
    if (!s[i].empty()) std::memcpy(p.buffers[i].data, s[i].data(), s[i].size());
}

uint3 block_number(const Launch &l, std::size_t i) {
  return {unsigned(i % l.grid.x), unsigned(i / l.grid.x % l.grid.y), unsigned(i / l.grid.x / l.grid.y)};
}

std::size_t blocks(const Launch &l) { return std::size_t(l.grid.x) * l.grid.y * l.grid.z; }

void run_full(Program &p, const Launch &l) {
  std::vector<std::size_t> order(blocks(l));
  for (std::size_t i = 0; i < order.size(); i++) order[i] = i;
  for (std::size_t i = order.size(); p.schedule.random() && i > 1; i--)
    std::swap(order[i - 1], order[p.schedule.below(i)]);
  for (std::size_t i : order) {
    run_block(l, block_number(l, i), p.schedule, p.early);
    check_slack();
  }
}

// show prints an entry of a buffer.
std::string show(const Buffer &b, const char *at) {
  char text[64];
  float f;
  double d;
  std::int32_t i;
  switch (b.letter) {
    case 'f':
      std::memcpy(&f, at, 4);
      std::snprintf(text, sizeof text, "%.9g", double(f));
      break;
    case 'd':
      std::memcpy(&d, at, 8);
      std::snprintf(text, sizeof text, "%.17g", d);
      break;
    case 'i':
      std::memcpy(&i, at, 4);
      std::snprintf(text, sizeof text, "%" PRId32, i);
      break;
    default:
      std::snprintf(text, sizeof text, "%d", int(static_cast<unsigned char>(*at)));
  }
  return text;
}

std::string name(uint3 b) {
  return "(" + std::to_string(b.x) + "," + std::to_string(b.y) + "," + std::to_string(b.z) + ")";
}

// A Writer per entry: the block that wrote it when it ran alone, or none.
using Writers = std::vector<std::vector<std::uint32_t>>;

// claim_entries notes what a block that ran alone has written.
void claim_entries(Program &p, const Launch &l, std::size_t block, const Snapshot &before, const Snapshot &full, Writers &writers) {
  for (std::size_t i = 0; i < p.buffers.size(); i++) {
    const Buffer &b = p.buffers[i];
    for (std::size_t e = 0; e < b.count; e++) {
      const char *now = b.data + e * b.size;
      if (!std::memcmp(now, &before[i][e * b.size], b.size)) continue;
      std::uint32_t &w = writers[i][e];
      if (w != 0)
        fail("isolated", "kernel %s: blocks %s and %s both write %s[%zu]", l.kernel->name, name(block_number(l, w - 1)).c_str(), name(block_number(l, block)).c_str(), b.name.c_str(), e);
      w = std::uint32_t(block + 1);
      if (std::memcmp(now, &full[i][e * b.size], b.size))
        fail("isolated", "kernel %s: %s[%zu] is %s in the full run and %s where block %s runs alone", l.kernel->name, b.name.c_str(), e, show(b, &full[i][e * b.size]).c_str(), show(b, now).c_str(), name(block_number(l, block)).c_str());
    }
  }
}

void run_isolated(Program &p, const Launch &l) {
  Snapshot before = take(p);
  run_full(p, l);
  Snapshot full = take(p);
  Writers writers;
  for (const Buffer &b : p.buffers) writers.emplace_back(b.count);
  for (std::size_t i = 0; i < blocks(l); i++) {
    restore(p, before);
    run_block(l, block_number(l, i), p.schedule, p.early);
    check_slack();
    claim_entries(p, l, i, before, full, writers);
  }
  for (std::size_t i = 0; i < p.buffers.size(); i++) {
    const Buffer &b = p.buffers[i];
    for (std::size_t e = 0; e < b.count; e++)
      if (writers[i][e] == 0 && std::memcmp(&before[i][e * b.size], &full[i][e * b.size], b.size))
        fail("isolated", "kernel %s: %s[%zu] is written in the full run and by no block that runs alone", l.kernel->name, b.name.c_str(), e);
  }
  restore(p, full);
}

}  // namespace

void enter(const Kernel &k) { kernels().push_back(k); }

}  // namespace hecate_shim

extern "C" const char *__asan_default_options() { return "detect_leaks=0:exitcode=65:allocator_may_return_null=1"; }
extern "C" const char *__tsan_default_options() { return "halt_on_error=1:atexit_sleep_ms=0:exitcode=66:report_thread_leaks=0"; }

int main() {
  using namespace hecate_shim;
  // A kernel that prints must not print into the buffers.
  int out = dup(1);
  dup2(2, 1);
  catch_faults();
  Program p = parse(read_all(0));
  for (Call &c : p.calls) {
    c.launch.arguments = c.arguments.data();
    if (p.isolated) run_isolated(p, c.launch);
    else run_full(p, c.launch);
  }
  for (const Buffer &b : p.buffers) write_all(out, b.data, b.bytes());
  std::fflush(stdout);
  _exit(0);
}
