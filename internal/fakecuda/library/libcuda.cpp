// libcuda.cpp is a CUDA driver without a GPU: the functions of the driver API that
// runtime/cuda calls, over the shim that runs kernels on the processor (cuda/shim). An
// image is a shared object of a kernel's text.
//
//   - An address of the device cannot be read by the host: it lies in a range without
//     access, and what it means is at a distance from there, which launches and copies add.
//   - Work is done when it is enqueued (eager), or as late as a wait, or in between at
//     random (late): what must not change meanwhile, changes if it does.
//   - Each call that needs a context looks whether the calling thread has one.
//   - It fails on request, see `settings`; the variable FAKECUDA has requests for the whole
//     process, fakecuda_set takes more.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "block.h"
#include "entry.h"

using hecate_shim::Argument;
using hecate_shim::Kernel;

namespace {

// ---- What is asked for ------------------------------------------------------

// settings are words NAME=NUMBER, separated by commas:
//
//   devices, major, minor, driver, memory (bytes)
//   late=1, seed=N       work waits; with a seed a part of it is done at each call
//   alloc=N, launch=N    the N-th of them from now on fails
//   fault=N              the N-th kernel that runs from now on goes outside its memory
//   load=N               the N-th image from now on is refused as damaged
std::map<std::string, long long> settings = {{"devices", 1}, {"major", 9}, {"minor", 0},
                                             {"driver", 12080}, {"memory", 8LL << 30}};

void set(const char *words) {
  std::string all = words == nullptr ? "" : words;
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = std::min(all.find(',', from), all.size()), is = all.find('=', from);
    if (is < to) settings[all.substr(from, is - from)] = std::atoll(all.c_str() + is + 1);
    from = to + 1;
  }
}

// due counts down a request; it is true once.
bool due(const char *name) {
  auto s = settings.find(name);
  return s != settings.end() && s->second > 0 && --s->second == 0;
}

std::map<std::string, long long> counts;

enum Code {
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kInvalidContext = 201,
  kInvalidSource = 300,
  kInvalidHandle = 400,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchResources = 701,
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
};

std::mutex lock;
bool initialized;
std::uint64_t random_state;

// ---- Memory -----------------------------------------------------------------

constexpr std::size_t kReserved = std::size_t(64) << 30;

struct Block {
  std::size_t bytes;
  bool live;
};
struct Stream;
struct Module;
struct Function;

// A Context is the primary one of a device. Calls see the memory, the streams and the images of
// the context of their thread, and no other.
struct Context {
  int retained = 0;
  int sticky = 0;  // the fault after which every call fails
  std::size_t used = 0;
  std::map<std::uint64_t, Block> blocks;  // by address on the device
  std::set<Stream *> streams;
  std::set<Module *> modules;
  std::set<Function *> functions;
};
constexpr int kMostDevices = 16;
Context contexts[kMostDevices];
thread_local Context *current;
std::uint64_t device_base, next_address;
char *memory_base;

char *real(std::uint64_t address) { return memory_base + (address - device_base); }

// inside reports whether a range is in one live block.
bool inside(std::uint64_t address, std::size_t bytes) {
  auto b = current->blocks.upper_bound(address);
  if (b == current->blocks.begin()) return false;
  --b;
  return b->second.live && address + bytes <= b->first + b->second.bytes;
}

bool reserve() {
  void *a = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  void *b = mmap(nullptr, kReserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (a == MAP_FAILED || b == MAP_FAILED) return false;
  device_base = next_address = reinterpret_cast<std::uint64_t>(a);
  memory_base = static_cast<char *>(b);
  return true;
}

// allocate makes a block between pages without access. It holds NaNs.
int allocate(std::uint64_t *out, std::size_t bytes) {
  if (due("alloc") || current->used + bytes > std::size_t(settings["memory"])) return kOutOfMemory;
  std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), pages = (bytes + page - 1) / page * page;
  if (bytes == 0) return kInvalidValue;
  if (next_address + pages + page > device_base + kReserved) return kOutOfMemory;
  if (mprotect(real(next_address), pages, PROT_READ | PROT_WRITE) != 0) return kOutOfMemory;
  std::memset(real(next_address), 0xff, pages);
  *out = next_address;
  current->blocks[next_address] = {bytes, true};
  next_address += pages + page;
  current->used += bytes;
  counts["live"]++;
  counts["allocated"]++;
  return 0;
}

int release(std::uint64_t address) {
  auto b = current->blocks.find(address);
  if (b == current->blocks.end() || !b->second.live) return kInvalidValue;
  std::size_t page = std::size_t(sysconf(_SC_PAGESIZE)), pages = (b->second.bytes + page - 1) / page * page;
  madvise(real(address), pages, MADV_DONTNEED);
  mprotect(real(address), pages, PROT_NONE);
  current->used -= b->second.bytes;
  b->second.live = false;
  counts["live"]--;
  return 0;
}

// ---- Streams and graphs -----------------------------------------------------

using Task = std::function<int()>;

struct Stream {
  std::vector<Task> waiting;
  bool capturing = false, spoiled = false;
  std::vector<Task> captured;
};
struct Graph {
  std::vector<Task> tasks;
};

int run(const Task &t) {
  if (current->sticky == 0) current->sticky = t();
  return current->sticky;
}

void run_some(Stream *s, std::size_t n) {
  for (std::size_t i = 0; i < n; i++) run(s->waiting[i]);
  s->waiting.erase(s->waiting.begin(), s->waiting.begin() + std::ptrdiff_t(n));
}

// enqueue does work now, or later.
int enqueue(Stream *s, Task t) {
  if (current->streams.count(s) == 0) return kInvalidHandle;
  if (s->capturing) {
    s->captured.push_back(std::move(t));
    return 0;
  }
  s->waiting.push_back(std::move(t));
  if (settings["late"] == 0) {
    run_some(s, s->waiting.size());
    return 0;
  }
  if (settings["seed"] != 0) {
    random_state = random_state * 6364136223846793005u + std::uint64_t(settings["seed"]) * 2 + 1;
    if (random_state >> 62 == 0) run_some(s, (random_state >> 33) % (s->waiting.size() + 1));
  }
  return 0;
}

int wait(Stream *s) {
  if (current->streams.count(s) == 0) return kInvalidHandle;
  if (s->capturing) return s->spoiled = true, kCaptureUnsupported;
  counts["waits"]++;
  run_some(s, s->waiting.size());
  return current->sticky;
}

bool capturing() {
  for (Stream *s : current->streams)
    if (s->capturing) return true;
  return false;
}

// ---- Modules and launches ---------------------------------------------------

struct Function {
  const Kernel *kernel;
  int dynamic = 48 << 10;
};

struct Module {
  void *handle;
  std::vector<Kernel> kernels;
  std::map<std::string, Function> functions;
};
Module *loading;
// object_size is the length of an ELF file, whose section headers are last.
std::size_t object_size(const unsigned char *p) {
  std::uint64_t at;
  std::uint16_t size, n;
  std::memcpy(&at, p + 40, 8);
  std::memcpy(&size, p + 58, 2);
  std::memcpy(&n, p + 60, 2);
  return std::size_t(at) + std::size_t(size) * n;
}

int load(Module **out, const unsigned char *image) {
  if (due("load") || std::memcmp(image, "\x7f"
                                        "ELF\2",
                                 5) != 0)
    return kInvalidSource;
  std::string path = std::filesystem::temp_directory_path() / "fakecuda-XXXXXX";  // the loader knows objects by path
  int file = mkstemp(path.data());
  std::size_t n = object_size(image);
  bool written = file >= 0 && n < (1 << 28) && write(file, image, n) == ssize_t(n);
  close(file);
  loading = new Module();
  loading->handle = written ? dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  unlink(path.c_str());
  Module *m = loading;
  loading = nullptr;
  if (m->handle == nullptr || m->kernels.empty()) {
    delete m;
    return kInvalidImage;
  }
  for (const Kernel &k : m->kernels) {
    Function &f = m->functions[k.name];
    f.kernel = &k;
    current->functions.insert(&f);
  }
  current->modules.insert(m);
  counts["modules"]++;
  *out = m;
  return 0;
}

// A Launch with what it owns.
struct Work {
  hecate_shim::Launch launch = {};
  std::vector<Argument> arguments;
  std::vector<std::uint64_t> addresses;
};

int run_launch(const Work &w) {
  counts["kernels"]++;
  counts["kernels of " + std::to_string(current - contexts)]++;
  if (due("fault")) return kIllegalAddress;
  std::vector<Argument> arguments = w.arguments;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    if (w.addresses[i] == 0) continue;
    if (!inside(w.addresses[i], 1)) return kIllegalAddress;
    arguments[i].pointer = real(w.addresses[i]);
  }
  hecate_shim::Launch l = w.launch;
  l.arguments = arguments.data();
  static hecate_shim::Schedule schedule;
  for (unsigned b = 0; b < l.grid.x; b++)
    if (l.kernel->simple)
      hecate_shim::run_in_turn(l, {b, 0, 0});
    else
      hecate_shim::run_block(l, {b, 0, 0}, schedule, false);
  return 0;
}

int need_context() {
  if (!initialized) return kNotInitialized;
  if (current == nullptr || current->retained == 0) return kInvalidContext;
  return current->sticky;
}

}  // namespace

// enter takes the kernels of the image that is being loaded.
void hecate_shim::enter(const Kernel &k) {
  if (loading != nullptr) loading->kernels.push_back(k);
}

#define LOCKED std::lock_guard<std::mutex> guard(lock)
#define IN_CONTEXT \
  LOCKED;          \
  if (int code = need_context()) return code

extern "C" {

void fakecuda_set(const char *words) {
  LOCKED;
  set(words);
}

long long fakecuda_count(const char *what) {
  LOCKED;
  return counts[what];
}

int cuInit(unsigned) {
  LOCKED;
  if (!initialized) set(std::getenv("FAKECUDA"));
  if (settings["devices"] == 0) return kNoDevice;
  if (!initialized && !reserve()) return kOutOfMemory;
  initialized = true;
  return 0;
}

int cuDriverGetVersion(int *out) {
  LOCKED;
  if (!initialized) set(std::getenv("FAKECUDA"));
  *out = int(settings["driver"]);
  return 0;
}

int cuGetErrorName(int code, const char **out) {
  static const std::map<int, const char *> names = {
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
      {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
      {kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
      {kInvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidSource, "CUDA_ERROR_INVALID_SOURCE"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {kLaunchResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {kCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {kCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"}};
  auto n = names.find(code);
  if (n == names.end()) return kInvalidValue;
  *out = n->second;
  return 0;
}

int cuDeviceGetCount(int *out) {
  LOCKED;
  *out = int(settings["devices"]);
  return initialized ? 0 : kNotInitialized;
}

int cuDeviceGet(int *out, int n) {
  LOCKED;
  *out = n;
  return n >= 0 && n < settings["devices"] ? 0 : kInvalidDevice;
}

int cuDeviceGetName(char *out, int n, int) {
  std::snprintf(out, std::size_t(n), "no GPU but the processor");
  return 0;
}

int cuDeviceTotalMem_v2(std::size_t *out, int) {
  LOCKED;
  *out = std::size_t(settings["memory"]);
  return 0;
}

int cuDeviceGetAttribute(int *out, int which, int) {
  LOCKED;
  switch (which) {
    case 16:
      *out = 2;
      break;
    case 75:
      *out = int(settings["major"]);
      break;
    case 76:
      *out = int(settings["minor"]);
      break;
    case 97:
      *out = 227 << 10;
      break;
    default:
      *out = 1;
  }
  return 0;
}

int cuDevicePrimaryCtxRetain(void **out, int device) {
  LOCKED;
  if (!initialized) return kNotInitialized;
  if (device < 0 || device >= settings["devices"] || device >= kMostDevices) return kInvalidDevice;
  contexts[device].retained++;
  counts["retained"]++;
  *out = &contexts[device];
  return contexts[device].sticky;
}

int cuDevicePrimaryCtxRelease_v2(int device) {
  LOCKED;
  if (device < 0 || device >= kMostDevices || contexts[device].retained == 0) return kInvalidContext;
  Context &c = contexts[device];
  counts["retained"]--;
  if (--c.retained > 0) return 0;
  Context *before = current;
  current = &c;  // what the context had goes with it
  for (auto &b : c.blocks)
    if (b.second.live) release(b.first);
  current = before;
  for (Stream *s : c.streams) delete s, counts["streams"]--;
  for (Module *m : c.modules) dlclose(m->handle), delete m, counts["modules"]--;
  c.streams.clear(), c.modules.clear(), c.functions.clear();
  c.sticky = 0;
  return 0;
}

int cuCtxSetCurrent(void *context) {
  LOCKED;
  Context *c = static_cast<Context *>(context);
  if (c != nullptr && (c < contexts || c >= contexts + kMostDevices)) return kInvalidContext;
  current = c;
  return 0;
}

int cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  IN_CONTEXT;
  *total = std::size_t(settings["memory"]);
  *free = *total - current->used;
  return 0;
}

int cuMemAlloc_v2(std::uint64_t *out, std::size_t bytes) {
  IN_CONTEXT;
  if (capturing()) return kCaptureUnsupported;
  return allocate(out, bytes);
}

int cuMemFree_v2(std::uint64_t address) {
  IN_CONTEXT;
  for (Stream *s : current->streams) run_some(s, s->waiting.size());
  return release(address);
}

int cuMemAllocAsync(std::uint64_t *out, std::size_t bytes, Stream *) {
  IN_CONTEXT;
  if (capturing()) return kCaptureUnsupported;
  return allocate(out, bytes);
}

int cuMemFreeAsync(std::uint64_t address, Stream *s) {
  IN_CONTEXT;
  if (capturing()) return kCaptureUnsupported;
  if (current->blocks.count(address) == 0 || !current->blocks[address].live) return kInvalidValue;
  return enqueue(s, [=] { return release(address); });
}

int cuMemHostAlloc(void **out, std::size_t bytes, unsigned) {
  IN_CONTEXT;
  *out = std::malloc(bytes);
  counts["pinned"]++;
  return *out == nullptr ? kOutOfMemory : 0;
}

int cuMemFreeHost(void *p) {
  IN_CONTEXT;
  counts["pinned"]--;
  std::free(p);
  return 0;
}

int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void *from, std::size_t bytes, Stream *s) {
  IN_CONTEXT;
  counts["uploads"]++;
  if (!inside(to, bytes)) return kInvalidValue;
  return enqueue(s, [=] { return inside(to, bytes) ? (std::memcpy(real(to), from, bytes), 0) : kIllegalAddress; });
}

int cuMemcpyDtoHAsync_v2(void *to, std::uint64_t from, std::size_t bytes, Stream *s) {
  IN_CONTEXT;
  counts["downloads"]++;
  if (!inside(from, bytes)) return kInvalidValue;
  return enqueue(s, [=] { return inside(from, bytes) ? (std::memcpy(to, real(from), bytes), 0) : kIllegalAddress; });
}

int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, Stream *s) {
  IN_CONTEXT;
  counts["copies"]++;
  if (!inside(to, bytes) || !inside(from, bytes)) return kInvalidValue;
  return enqueue(s, [=] {
    counts["copied"]++;
    return inside(to, bytes) && inside(from, bytes) ? (std::memmove(real(to), real(from), bytes), 0) : kIllegalAddress;
  });
}

int cuMemsetD8Async(std::uint64_t to, unsigned char x, std::size_t bytes, Stream *s) {
  IN_CONTEXT;
  counts["fills"]++;
  if (!inside(to, bytes)) return kInvalidValue;
  return enqueue(s, [=] { return inside(to, bytes) ? (std::memset(real(to), x, bytes), 0) : kIllegalAddress; });
}

int cuStreamCreate(Stream **out, unsigned) {
  IN_CONTEXT;
  *out = new Stream();
  current->streams.insert(*out);
  counts["streams"]++;
  return 0;
}

int cuStreamDestroy_v2(Stream *s) {
  IN_CONTEXT;
  if (current->streams.erase(s) == 0) return kInvalidHandle;
  run_some(s, s->waiting.size());
  counts["streams"]--;
  delete s;
  return 0;
}

int cuStreamSynchronize(Stream *s) {
  IN_CONTEXT;
  return wait(s);
}

int cuModuleLoadDataEx(Module **out, const void *image, unsigned n, const int *options, void **values) {
  IN_CONTEXT;
  int code = load(out, static_cast<const unsigned char *>(image));
  for (unsigned i = 0; i < n && code != 0; i++)
    if (options[i] == 5) std::strcpy(static_cast<char *>(values[i]), "no object of this processor");
  return code;
}

int cuModuleUnload(Module *m) {
  IN_CONTEXT;
  if (current->modules.erase(m) == 0) return kInvalidHandle;
  for (Stream *s : current->streams) run_some(s, s->waiting.size());
  for (auto &f : m->functions) current->functions.erase(&f.second);
  dlclose(m->handle);
  counts["modules"]--;
  delete m;
  return 0;
}

int cuModuleGetFunction(Function **out, Module *m, const char *name) {
  IN_CONTEXT;
  if (current->modules.count(m) == 0) return kInvalidHandle;
  auto f = m->functions.find(name);
  if (f == m->functions.end()) return kNotFound;
  *out = &f->second;
  return 0;
}

int cuFuncSetAttribute(Function *f, int which, int value) {
  IN_CONTEXT;
  if (current->functions.count(f) == 0) return kInvalidHandle;
  if (which != 8 || value < 0 || value > 227 << 10) return kInvalidValue;
  f->dynamic = value;
  return 0;
}

int cuFuncGetAttribute(int *out, int, Function *f) {
  IN_CONTEXT;
  *out = 0;
  return current->functions.count(f) == 0 ? kInvalidHandle : 0;
}

int cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned dynamic, Stream *s, void **params, void **extra) {
  IN_CONTEXT;
  counts["launches"]++;
  if (current->functions.count(f) == 0) return kInvalidHandle;
  if (gx == 0 || gy != 1 || gz != 1 || bx == 0 || by != 1 || bz != 1 || extra != nullptr) return kInvalidValue;
  if (due("launch") || bx > unsigned(f->kernel->threads)) return kLaunchResources;
  if (dynamic > unsigned(f->dynamic)) return kInvalidValue;
  Work w;
  w.launch.kernel = f->kernel;
  w.launch.grid = {gx, 1, 1};
  w.launch.block = {bx, 1, 1};
  w.launch.dynamic_bytes = dynamic;
  for (const char *letter = f->kernel->letters; *letter != 0; letter++, params++) {
    Argument a = {};
    std::uint64_t address = 0;
    if (*letter == 'n') {
      int x;
      std::memcpy(&x, *params, sizeof x);
      a.integer = x;
    } else {
      std::memcpy(&address, *params, sizeof address);
    }
    w.arguments.push_back(a);
    w.addresses.push_back(address);
  }
  return enqueue(s, [=] { return run_launch(w); });
}

int cuStreamBeginCapture_v2(Stream *s, int) {
  IN_CONTEXT;
  if (current->streams.count(s) == 0) return kInvalidHandle;
  if (s->capturing) return kInvalidValue;
  s->capturing = true, s->spoiled = false;
  s->captured.clear();
  return 0;
}

int cuStreamEndCapture(Stream *s, Graph **out) {
  IN_CONTEXT;
  if (current->streams.count(s) == 0) return kInvalidHandle;
  if (!s->capturing) return kInvalidValue;
  s->capturing = false;
  if (s->spoiled) return kCaptureInvalidated;
  *out = new Graph{s->captured};
  counts["graphs"]++;
  return 0;
}

int cuGraphGetNodes(Graph *g, void **, std::size_t *n) {
  IN_CONTEXT;
  *n = g->tasks.size();
  return 0;
}

int cuGraphInstantiateWithFlags(Graph **out, Graph *g, unsigned long long) {
  IN_CONTEXT;
  *out = new Graph(*g);
  counts["graphs"]++;
  return 0;
}

int cuGraphLaunch(Graph *g, Stream *s) {
  IN_CONTEXT;
  counts["replays"]++;
  return enqueue(s, [tasks = g->tasks] {
    for (const Task &t : tasks)
      if (int code = t()) return code;
    return 0;
  });
}

int cuGraphDestroy(Graph *g) {
  IN_CONTEXT;
  counts["graphs"]--;
  delete g;
  return 0;
}

int cuGraphExecDestroy(Graph *g) { return cuGraphDestroy(g); }

}  // extern "C"
