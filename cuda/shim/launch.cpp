// launch.cpp runs the blocks of a launch: all of them, one after another, and
// isolated, each alone from the buffers as the launch found them.
//
// Isolated, the entries that blocks write must be disjoint, and together they
// must be what the full run wrote. A write of the value that was there before
// does not show.
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "memory.h"
#include "program.h"

namespace hecate_shim {

namespace {

uint3 block_number(const Launch &l, std::size_t i) {
  return {unsigned(i % l.grid.x), unsigned(i / l.grid.x % l.grid.y), unsigned(i / l.grid.x / l.grid.y)};
}

std::size_t blocks(const Launch &l) { return std::size_t(l.grid.x) * l.grid.y * l.grid.z; }

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
    case 'h':
      std::uint16_t bits;
      std::memcpy(&bits, at, 2);
      std::snprintf(text, sizeof text, "0x%04x", bits);
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
void claim_entries(Program &p, const Launch &l, std::size_t block, const Snapshot &before,
                   const Snapshot &full, Writers &writers) {
  for (std::size_t i = 0; i < p.buffers.size(); i++) {
    const Buffer &b = p.buffers[i];
    for (std::size_t e = 0; e < b.count; e++) {
      const char *now = b.data + e * b.size;
      if (!std::memcmp(now, &before[i][e * b.size], b.size)) continue;
      std::uint32_t &w = writers[i][e];
      if (w != 0)
        fail("isolated", "kernel %s: blocks %s and %s both write %s[%zu]", l.kernel->name,
             name(block_number(l, w - 1)).c_str(), name(block_number(l, block)).c_str(), b.name.c_str(), e);
      w = std::uint32_t(block + 1);
      if (std::memcmp(now, &full[i][e * b.size], b.size))
        fail("isolated", "kernel %s: %s[%zu] is %s in the full run and %s where block %s runs alone",
             l.kernel->name, b.name.c_str(), e, show(b, &full[i][e * b.size]).c_str(), show(b, now).c_str(),
             name(block_number(l, block)).c_str());
    }
  }
}

}  // namespace

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
        fail("isolated", "kernel %s: %s[%zu] is written in the full run and by no block that runs alone",
             l.kernel->name, b.name.c_str(), e);
  }
  restore(p, full);
}

}  // namespace hecate_shim
