// program.cpp reads programs and holds launches to the table of kernels.
#include "program.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "entry.h"
#include "memory.h"

namespace hecate_shim {

namespace {

std::vector<Kernel> &kernels() {
  static std::vector<Kernel> table;
  return table;
}

std::size_t size_of(char letter) {
  switch (letter) {
    case 'd':
      return 8;
    case 'b':
      return 1;
    case 'h':
      return 2;
    default:
      return 4;
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
  if (std::sscanf(line, "buffer %127s %c %zu", name, &letter, &n) != 3)
    fail("call", "not understood: %s", line);
  Buffer b = {name, letter, size_of(letter), n, nullptr};
  b.data = static_cast<char *>(claim(b.bytes(), strdup(name)));
  p.buffers.push_back(b);
}

void add_launch(Program &p, const char *line) {
  char name[128];
  Launch l = {};
  if (std::sscanf(line, "launch %127s %u %u %u %u %u %u %zu", name, &l.grid.x, &l.grid.y, &l.grid.z,
                  &l.block.x, &l.block.y, &l.block.z, &l.dynamic_bytes) != 8)
    fail("call", "not understood: %s", line);
  l.kernel = find(name);
  std::size_t threads = std::size_t(l.block.x) * l.block.y * l.block.z;
  if (threads == 0 || threads > std::size_t(l.kernel->threads))
    fail("call", "kernel %s is launched with %zu threads in a block and declares %d", name, threads,
         l.kernel->threads);
  p.calls.push_back({l, {}, {}});
}

void add_argument(Program &p, const char *line) {
  Argument a = {};
  char letter = 'n';
  std::size_t buffer, offset;
  if (std::sscanf(line, "pointer %zu %zu", &buffer, &offset) == 2 && buffer < p.buffers.size() &&
      offset <= p.buffers[buffer].count) {
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
    fail("call", "kernel %s has %zu parameters and got %zu arguments", k.name, std::strlen(k.letters),
         got.size());
  for (std::size_t i = 0; i < got.size(); i++)
    if (got[i] != k.letters[i] && (got[i] != '0' || k.letters[i] == 'n'))
      fail("call",
           "argument %zu of kernel %s is of type %c, its parameter of type %c (f, d, i, b, h: pointers to "
           "float, double, int, byte, two bytes; n: an integer)",
           i + 1, k.name, got[i], k.letters[i]);
}

}  // namespace

void enter(const Kernel &k) { kernels().push_back(k); }

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
    if (word == "isolated" && std::sscanf(line.c_str(), "isolated %d", &on) == 1)
      p.isolated = on;
    else if (word == "early" && std::sscanf(line.c_str(), "early %d", &on) == 1)
      p.early = on;
    else if (word == "buffer")
      add_buffer(p, line.c_str());
    else if (word == "launch")
      add_launch(p, line.c_str());
    else
      add_argument(p, line.c_str());
  }
  for (Buffer &b : p.buffers) {
    if (all.size() - at < b.bytes()) fail("call", "the data of %s is short", b.name.c_str());
    if (b.bytes() > 0) std::memcpy(b.data, all.data() + at, b.bytes());
    at += b.bytes();
  }
  for (Call &c : p.calls) check(c);
  return p;
}

}  // namespace hecate_shim
