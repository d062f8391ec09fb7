/* OpenBLAS, opened where it is installed: nothing is linked. One thread. */
#include "chunk.h"
#include "serve.h"

#include <dlfcn.h>
#include <stdlib.h>

enum { ROW_MAJOR = 101, AS_IS = 111, TRANSPOSED = 112 };

typedef void gemm(int order, int transA, int transB, int m, int n, int k, float alpha, const float *A, int lda,
                  const float *B, int ldb, float beta, float *C, int ldc);

static gemm *sgemm;

int blas_open(const char **says)
{
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so", "libopenblas.0.dylib"};
    void *lib = 0;
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (unsigned i = 0; !lib && i < sizeof names / sizeof *names; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        *says = "OpenBLAS is not installed (libopenblas.so.0, in Debian of the package libopenblas0-pthread): "
                "no products are compared";
        return 0;
    }
    /* ISO C has no conversion from void * to a function; POSIX does it so. */
    *(void **)&sgemm = dlsym(lib, "cblas_sgemm");
    void (*threads)(int);
    char *(*config)(void);
    *(void **)&threads = dlsym(lib, "openblas_set_num_threads");
    *(void **)&config = dlsym(lib, "openblas_get_config");
    if (!sgemm || !threads || !config) {
        *says = "this OpenBLAS lacks cblas_sgemm or openblas_set_num_threads: no products are compared";
        return 0;
    }
    threads(1);
    *says = config();
    return 1;
}

void blas_product(int form, int T, int d, const float *X, const float *W, const float *dY, float *out)
{
    if (form == 0)
        sgemm(ROW_MAJOR, AS_IS, TRANSPOSED, T, d, d, 1, X, d, W, d, 0, out, d);
    else if (form == 1)
        sgemm(ROW_MAJOR, AS_IS, AS_IS, T, d, d, 1, dY, d, W, d, 0, out, d);
    else
        sgemm(ROW_MAJOR, TRANSPOSED, AS_IS, d, d, T, 1, dY, d, X, d, 0, out, d);
}

void blas_multiply(int ta, int tb, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb,
                   float beta, float *out, int ldo)
{
    sgemm(ROW_MAJOR, ta ? TRANSPOSED : AS_IS, tb ? TRANSPOSED : AS_IS, m, n, k, alpha, a, lda, b, ldb, beta, out, ldo);
}
