package gen_test

import (
	"path"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/plan"
)

// mostMoved is what a step of ZeroB may move. It moved 30.1 MB before what a forward saves was
// chosen by cost.
const mostMoved = 23 << 20

// TestStepMoves adds up the bytes that forward and backward of ZeroB move in a step of 4 × 64
// tokens, of width 64 and a window of 64; with -v it prints those of each kernel.
func TestStepMoves(t *testing.T) {
	s, ds := gen.Load("../specs")
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	sizes := map[string]int{"L": 4, "T": 64, "d": 64, "V": 256, "H": 4, "d_h": 16, "w": 64, "n_p": 0, "d_k": 64, "d_v": 64, "C": 64}
	var sum plan.Traffic
	for _, name := range []string{"ByteLM", "MAG", "DeltaUnbounded", "SlidingWindow"} {
		u, ds := gen.CompileUnit(s, s.Tree.Units[name])
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		if fns := u.Functions(); len(fns) > 0 && name == "DeltaUnbounded" {
			count(t, &sum, fns[:1], sizes) // the second is of frozen reads
		}
		count(t, &sum, []*abi.Unit{u}, sizes)
	}
	t.Logf("read %d KB, written %d KB", sum.Read>>10, sum.Written>>10)
	if sum.Total() > mostMoved {
		t.Errorf("a step moves %d KB, more than %d", sum.Total()>>10, mostMoved>>10)
	}
}

func count(t *testing.T, sum *plan.Traffic, units []*abi.Unit, sizes map[string]int) {
	for _, f := range emitgo.KernelFiles(units) {
		if strings.HasPrefix(path.Base(f.Path), "read") {
			continue
		}
		for _, k := range f.Kernels {
			x := k.Traffic(sizes)
			t.Logf("%-60s %6d %6d", f.Path+"."+k.Name, x.Read>>10, x.Written>>10)
			sum.Read, sum.Written = sum.Read+x.Read, sum.Written+x.Written
		}
	}
}
