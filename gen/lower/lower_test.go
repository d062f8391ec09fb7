package lower_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/plan"
)

var update = flag.Bool("update", false, "write the golden plans")

// read parses a program of testdata.
func read(t *testing.T, name string) *ir.Func {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".ir"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := ir.Parse(string(text))
	if err != nil {
		t.Fatalf("parse %s: %v", name, err)
	}
	return f
}

func golden(t *testing.T, name string, k *plan.Kernel) {
	t.Helper()
	path := filepath.Join("testdata", name+".plan")
	if *update {
		if err := os.WriteFile(path, []byte(k.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Errorf("wrote %s", path)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := k.String(); got != string(want) {
		t.Errorf("plan of %s:\n%s\nwant:\n%s", name, got, want)
	}
}

// The plans of a rule with rows, of one whose rows see each other, of one that
// looks back through a window, which is read where the series lies, and of
// searches for all points at once and behind a state.
func TestPlans(t *testing.T) {
	for _, name := range []string{"delta", "slots", "window", "roots"} {
		k, err := lower.Func(read(t, name))
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name, k)
	}
}

// What the backward of the delta rule must not do: keep all states, or compute
// the errors again that the forward saved.
func TestPairOfDeltaRule(t *testing.T) {
	fwd, bwd, err := lower.Pair(autodiff.NewPair(read(t, "delta")))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := bwd.Memory.Checkpoints.String(), "L·d_k·d_v·segments"; got != want {
		t.Errorf("checkpoints = %s, want %s", got, want)
	}
	if got, want := fwd.Memory.Saved.String(), "L·T·d_v"; got != want {
		t.Errorf("saved = %s, want %s", got, want)
	}
	if b := bwd.Param("v"); b != nil {
		t.Errorf("the backward reads v, so it computes the errors again:\n%s", bwd)
	}
	for _, k := range []*plan.Kernel{fwd, bwd} {
		if !strings.Contains(k.String(), "row i in [0, d_v)") {
			t.Errorf("%s has no rows:\n%s", k.Name, k)
		}
	}
}

func TestBackwardAlone(t *testing.T) {
	_, err := lower.Func(autodiff.NewPair(read(t, "delta")).Bwd)
	if err == nil || !strings.Contains(err.Error(), "needs its forward") {
		t.Errorf("Func(backward) = %v, want an error that names Pair", err)
	}
}

// Two sizes are two values, however alike their instructions look.
func TestSizesApart(t *testing.T) {
	f, err := ir.Parse(`func two(a: input real[m], b: input real[n]) {
  axes m, n
  %1 [] = size : m ; e
  %2 [] = size : n ; e
  %3 [m] = prod i:m : %1 a[i] ; e
  %4 [n] = prod j:n : %2 b[j] ; e
  return x = %3
  return y = %4
}
`)
	if err != nil {
		t.Fatal(err)
	}
	k, err := lower.Func(f)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"real(m)", "real(n)"} {
		if !strings.Contains(k.String(), want) {
			t.Errorf("no %s in\n%s", want, k)
		}
	}
}
