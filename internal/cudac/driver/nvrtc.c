/* nvrtc.c compiles one CUDA text with NVRTC for several targets.
 *
 *     nvrtc LIBRARY version
 *     nvrtc LIBRARY INCLUDE TEXT NAME OUT TARGET...
 *
 * The first form prints the library's version. The second compiles the file TEXT,
 * which messages call NAME, with INCLUDE in the search path. Per target it
 * writes OUT.TARGET.bin, PTX for compute_XX and a cubin for sm_XX, and
 * OUT.TARGET.log, the compiler's words. It ends with 1 where a text does not
 * compile, its log on the standard error, and with 2 for all other trouble.
 *
 * The library is opened at run time and declared here: there are no headers to
 * install, and nothing of the project is linked with it. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program *program;

static int (*version)(int *, int *);
static int (*create)(program *, const char *, const char *, int, const char *const *, const char *const *);
static int (*compile)(program, int, const char *const *);
static int (*destroy)(program *);
static int (*log_size)(program, size_t *);
static int (*get_log)(program, char *);
static int (*ptx_size)(program, size_t *);
static int (*get_ptx)(program, char *);
static int (*cubin_size)(program, size_t *);
static int (*get_cubin)(program, char *);
static const char *(*message)(int);

static void die(const char *what, const char *why) {
  fprintf(stderr, "nvrtc: %s: %s\n", what, why);
  exit(2);
}

static void *function(void *library, const char *name) {
  void *f = dlsym(library, name);
  if (f == NULL) die(name, dlerror());
  return f;
}

static void load(const char *path) {
  void *l = dlopen(path, RTLD_NOW);
  if (l == NULL) die(path, dlerror());
  *(void **)&version = function(l, "nvrtcVersion");
  *(void **)&create = function(l, "nvrtcCreateProgram");
  *(void **)&compile = function(l, "nvrtcCompileProgram");
  *(void **)&destroy = function(l, "nvrtcDestroyProgram");
  *(void **)&log_size = function(l, "nvrtcGetProgramLogSize");
  *(void **)&get_log = function(l, "nvrtcGetProgramLog");
  *(void **)&ptx_size = function(l, "nvrtcGetPTXSize");
  *(void **)&get_ptx = function(l, "nvrtcGetPTX");
  *(void **)&cubin_size = function(l, "nvrtcGetCUBINSize");
  *(void **)&get_cubin = function(l, "nvrtcGetCUBIN");
  *(void **)&message = function(l, "nvrtcGetErrorString");
}

static void must(const char *what, int code) {
  if (code != 0) die(what, message(code));
}

/* room returns n bytes, and a NUL behind them. */
static char *room(size_t n) {
  char *p = calloc(n + 1, 1);
  if (p == NULL) die("calloc", "no memory");
  return p;
}

static char *read_text(const char *path) {
  FILE *f = fopen(path, "rb");
  if (f == NULL) die(path, "cannot be read");
  fseek(f, 0, SEEK_END);
  long n = ftell(f);
  rewind(f);
  char *text = room((size_t)n);
  if (fread(text, 1, (size_t)n, f) != (size_t)n) die(path, "cannot be read");
  fclose(f);
  return text;
}

static void write_file(const char *out, const char *target, const char *kind, const char *data, size_t n) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%s.%s", out, target, kind);
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0) die(path, "cannot be written");
}

/* one compiles for one target and returns whether the text is well. */
static int one(const char *text, const char *name, const char *include, const char *out, const char *target) {
  char arch[64], search[4096];
  snprintf(arch, sizeof arch, "--gpu-architecture=%s", target);
  snprintf(search, sizeof search, "--include-path=%s", include);
  const char *options[] = {arch, search, "--std=c++17", "--ptxas-options=-v"};
  int count = strncmp(target, "sm_", 3) == 0 ? 4 : 3;
  program p;
  must("nvrtcCreateProgram", create(&p, text, name, 0, NULL, NULL));
  int code = compile(p, count, options);
  size_t n = 0;
  must("nvrtcGetProgramLogSize", log_size(p, &n));
  char *log = room(n);
  must("nvrtcGetProgramLog", get_log(p, log));
  if (code != 0) {
    fprintf(stderr, "%s for %s: %s\n%s\n", name, target, message(code), log);
    return 0;
  }
  write_file(out, target, "log", log, strlen(log));
  int sass = count == 4;
  must("the size of the code", sass ? cubin_size(p, &n) : ptx_size(p, &n));
  char *code_bytes = room(n);
  must("the code", sass ? get_cubin(p, code_bytes) : get_ptx(p, code_bytes));
  write_file(out, target, "bin", code_bytes, n);
  free(code_bytes);
  free(log);
  must("nvrtcDestroyProgram", destroy(&p));
  return 1;
}

int main(int argc, char **argv) {
  if (argc < 3) die("usage", "nvrtc LIBRARY version | nvrtc LIBRARY INCLUDE TEXT NAME OUT TARGET...");
  load(argv[1]);
  if (strcmp(argv[2], "version") == 0) {
    int major, minor;
    must("nvrtcVersion", version(&major, &minor));
    printf("%d.%d\n", major, minor);
    return 0;
  }
  if (argc < 7) die("usage", "nvrtc LIBRARY INCLUDE TEXT NAME OUT TARGET...");
  char *text = read_text(argv[3]);
  int well = 1;
  for (int i = 6; i < argc && well; i++) well = one(text, argv[4], argv[2], argv[5], argv[i]);
  return well ? 0 : 1;
}
