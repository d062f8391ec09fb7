// libnvrtc.cpp is a compiler of kernels without NVIDIA's: the functions of NVRTC that
// runtime/cuda calls, over g++. What it makes for any machine is a shared object that the
// driver of libcuda.cpp loads.
//
// SHIM is the folder of the shim's headers when this file is compiled.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Program {
  std::string text, name, log, image;
  std::vector<std::string> headers, names;
};

enum { kCompilation = 6, kInvalidInput = 3, kInvalidOption = 5 };

std::string read(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

std::string shell_word(const std::string &s) {
  std::string out = "'";
  for (char c : s) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// table lists the kernels of a text. One without barriers and shuffles is simple: its threads can run
// one after another.
std::string table(const std::string &text) {
  static const std::regex head(R"(HECATE_KERNEL\(([^()]*)\)\s*(\w+)\s*\()");
  static const std::regex waits(R"(__sync|__shfl|hecate::(block|warp|group)_|copy_async)");
  std::vector<std::smatch> found;
  for (std::sregex_iterator at(text.begin(), text.end(), head), end; at != end; ++at) found.push_back(*at);
  std::ostringstream out;
  out << "#include \"entry.h\"\n";
  for (std::size_t i = 0; i < found.size(); i++) {
    auto to = i + 1 < found.size() ? text.begin() + found[i + 1].position() : text.end();
    bool simple = !std::regex_search(text.begin() + found[i].position(), to, waits);
    out << "static const hecate_shim::Entry<" << found[i][2] << "> hecate_entry_" << i << "(\"" << found[i][2] << "\", "
        << found[i][1] << ", " << (simple ? "true" : "false") << ");\n";
  }
  return out.str();
}

}  // namespace

extern "C" {

int nvrtcVersion(int *major, int *minor) {
  *major = 12, *minor = 8;
  return 0;
}

const char *nvrtcGetErrorString(int code) {
  return code == kCompilation ? "NVRTC_ERROR_COMPILATION" : code == 0 ? "NVRTC_SUCCESS" : "NVRTC_ERROR";
}

int nvrtcCreateProgram(Program **out, const char *text, const char *name, int n, const char **headers, const char **names) {
  *out = new Program();
  (*out)->text = text, (*out)->name = name;
  for (int i = 0; i < n; i++) (*out)->headers.push_back(headers[i]), (*out)->names.push_back(names[i]);
  return 0;
}

int nvrtcDestroyProgram(Program **p) {
  delete *p;
  *p = nullptr;
  return 0;
}

int nvrtcCompileProgram(Program *p, int n, const char **options) {
  std::string at = std::filesystem::temp_directory_path() / "fakenvrtc-XXXXXX";
  if (mkdtemp(at.data()) == nullptr) return kInvalidInput;
  std::string command = "cd " + shell_word(at) + " && g++ -shared -fPIC -o image.so -std=c++17 -O2 -w -DHECATE_SHIM -ffp-contract=off -fno-strict-aliasing -fno-gnu-unique";
  bool machine = false;
  for (int i = 0; i < n; i++) {
    std::string o = options[i];
    if (o.compare(0, 2, "-D") == 0)
      command += " " + shell_word(o);
    else if (o.compare(0, 7, "--gpu-a") == 0 || o.compare(0, 5, "-arch") == 0)
      machine = true;
  }
  for (std::size_t i = 0; i < p->headers.size(); i++) write(at + "/" + p->names[i], p->headers[i]);
  write(at + "/kernel.cpp", "#line 1 \"" + p->name + "\"\n" + p->text + "\n" + table(p->text));
  command += " -I. -I" + shell_word(SHIM) + " kernel.cpp >log 2>&1";
  bool ok = machine && std::system(command.c_str()) == 0;
  p->log = read(at + "/log"), p->image = read(at + "/image.so");
  if (!machine) p->log = "no machine is named";
  std::system(("rm -rf " + shell_word(at)).c_str());
  return ok ? 0 : kCompilation;
}

int nvrtcGetProgramLogSize(Program *p, std::size_t *n) {
  *n = p->log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(Program *p, char *out) {
  std::memcpy(out, p->log.c_str(), p->log.size() + 1);
  return 0;
}

int nvrtcGetCUBINSize(Program *p, std::size_t *n) {
  *n = p->image.size();
  return 0;
}

int nvrtcGetCUBIN(Program *p, char *out) {
  std::memcpy(out, p->image.data(), p->image.size());
  return 0;
}

int nvrtcGetPTXSize(Program *p, std::size_t *n) { return nvrtcGetCUBINSize(p, n); }

int nvrtcGetPTX(Program *p, char *out) { return nvrtcGetCUBIN(p, out); }

}  // extern "C"
