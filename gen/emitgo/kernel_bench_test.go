package emitgo_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

// TestDeltaSpeed prints the time of the emitted delta rule beside the textbook
// C of bench/c, when SPEED is set.
func TestDeltaSpeed(t *testing.T) {
	if os.Getenv("SPEED") == "" {
		t.Skip("SPEED is not set")
	}
	fwd, bwd, err := lower.Pair(autodiff.NewPair(deltaRule()))
	if err != nil {
		t.Fatal(err)
	}
	h := newHarness(t, map[string]*plan.Kernel{"DeltaForward": fwd, "DeltaBackward": bwd})
	for _, d := range []int{64, 128, 256} {
		sizes := map[string]int{"L": 1, "T": 512, "d_k": d, "d_v": d, "C": 64}
		text := startTextbook(t, d)
		f := speedRequest(t, "DeltaForward", fwd, sizes, d)
		b := speedRequest(t, "DeltaBackward", bwd, sizes, d)
		var ns [4][]int64
		for range 8192 / d {
			cf, cb := text()
			ns[0], ns[1] = append(ns[0], h.run(t, f).Nanos...), append(ns[1], h.run(t, b).Nanos...)
			ns[2], ns[3] = append(ns[2], cf), append(ns[3], cb)
		}
		for i := range ns {
			slices.Sort(ns[i])
		}
		for i, name := range []string{"forward", "backward"} {
			g, c := ns[i], ns[i+2]
			mid := func(x []int64) int64 { return x[len(x)/2] / 1000 }
			t.Logf("%s d=%d: Go %d µs, textbook C %d µs, C/Go %.2f; best %d and %d, %.2f", name, d, mid(g), mid(c),
				float64(mid(c))/float64(mid(g)), g[0]/1000, c[0]/1000, float64(c[0])/float64(g[0]))
		}
	}
}

func speedRequest(t *testing.T, name string, k *plan.Kernel, sizes map[string]int, d int) *request {
	r := &request{Kernel: name, Single: true, Sizes: sizes, Params: map[string][]float64{}, Lens: map[string]int{}, Rounds: 1}
	for _, b := range k.Params {
		n := length(t, k, b, sizes)
		if b.Role == plan.Read || b.Role == plan.Checkpoint && !b.Optional {
			r.Params[b.Name] = deltaInput(b.Of, n, d)
		} else {
			r.Lens[b.Name] = n
		}
	}
	return r
}

// textbookMain runs one pass of the textbook for every line it reads.
const textbookMain = `#define NO_MAIN
#include "textbook.c"

static REAL *fill(long n, double scale, double middle)
{
    REAL *p = malloc(n * sizeof *p);
    for (long i = 0; i < n; i++)
        p[i] = middle + scale * (rand() / (double)RAND_MAX - 0.5);
    return p;
}

static long long clock_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

int main(int argc, char **argv)
{
    int d = atoi(argv[1]), T = 512;
    long n = (long)T * d, m = (long)d * d;
    double s = 2 / sqrt(d);
    REAL *k = fill(n, s, 0), *q = fill(n, s, 0), *v = fill(n, s, 0), *rho = fill(T, 0.1, 0.95), *theta = fill(T, 0.04, 0.03);
    REAL *M0 = fill(m, s, 0), *dy = fill(n, s, 0), *dM = fill(m, s, 0), *y = fill(n, 0, 0), *e = fill(n, 0, 0);
    REAL *ck = fill(8 * m, 0, 0), *MT = fill(m, 0, 0), *dk = fill(n, 0, 0), *dq = fill(n, 0, 0), *dv = fill(n, 0, 0);
    REAL *dr = fill(T, 0, 0), *dt = fill(T, 0, 0), *d0 = fill(m, 0, 0), *w = fill(66L * d, 0, 0);
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        long long a = clock_ns();
        textbook_forward(T, d, k, q, v, rho, theta, M0, y, e, ck, MT, w);
        long long b = clock_ns();
        textbook_backward(T, d, k, q, v, rho, theta, e, ck, dy, dM, dk, dq, dv, dr, dt, d0, w);
        printf("%lld %lld\n", b - a, clock_ns() - b);
        fflush(stdout);
    }
    return 0;
}
`

// startTextbook compiles bench/c and returns a function that runs one pass and
// gives the nanoseconds of forward and backward.
func startTextbook(t *testing.T, d int) func() (int64, int64) {
	t.Helper()
	dir, err := filepath.Abs("../../bench/c")
	if err != nil {
		t.Fatal(err)
	}
	exe := filepath.Join(t.TempDir(), "textbook")
	gcc := exec.Command("gcc", "-O2", "-I", dir, "-x", "c", "-o", exe, "-", "-lm")
	gcc.Stdin = strings.NewReader(textbookMain)
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	cmd := exec.Command(exe, fmt.Sprint(d))
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	pass := func() (f, b int64) {
		fmt.Fprintln(in)
		if _, err := fmt.Fscan(out, &f, &b); err != nil {
			t.Fatal(err)
		}
		return f, b
	}
	pass()
	return pass
}

func deltaInput(name string, n, d int) []float64 {
	rng := rand.New(rand.NewPCG(7, uint64(len(name))))
	out := make([]float64, n)
	for i := range out {
		switch name {
		case "rho":
			out[i] = 0.9 + 0.1*rng.Float64()
		case "theta":
			out[i] = 0.005 + 0.045*rng.Float64()
		default:
			out[i] = (2*rng.Float64() - 1) / math.Sqrt(float64(d))
		}
	}
	return out
}
