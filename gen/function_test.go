package gen

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// TestFunctionOfEveryRule runs the step and the frozen read of every rule whole, and as
// the function of its front and the rest after it: every result has the same bits.
func TestFunctionOfEveryRule(t *testing.T) {
	s, ds := Config{Root: "..", Specs: []string{"../specs"}}.Load()
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	functions, divided := map[string]bool{}, 0
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		if u.Example || len(units.PartsOf(u)) > 0 {
			continue
		}
		blk, bad := check.Instantiate(s.Tree, u)
		if bad.HasErrors() {
			t.Fatal(bad.Error())
		}
		t.Run(u.Name.Text, func(t *testing.T) {
			for _, build := range []func(*check.Block, *diag.List) *ir.Func{irbuild.Rule, irbuild.Frozen} {
				f := build(blk, &bad)
				cut := Outline(blk, f)
				if cut == nil {
					if frontOf(blk) != nil {
						t.Error("its front is no function")
					}
					continue
				}
				for _, g := range []*ir.Func{cut.Function, cut.Rest} {
					if err := ir.Verify(g); err != nil {
						t.Fatal(err)
					}
				}
				functions[cut.Function.String()] = true
				divided++
				sameBits(t, blk, f, cut.Function, cut.Rest)
			}
		})
	}
	if len(functions)*2 > divided {
		t.Errorf("%d programs have %d functions: they share too few", divided, len(functions))
	}
}

// sameBits runs a program, and its function and rest, on random numbers.
func sameBits(t *testing.T, blk *check.Block, f, function, rest *ir.Func) {
	t.Helper()
	sizes := map[string]int{"L": 2, "T": 5}
	if blk.Strategy != nil && !blk.Strategy.Frozen {
		sizes["T"] += 2 * blk.Strategy.Length()
	}
	for i, n := range append(irbuild.Sizes(f), "H") {
		if sizes[n] == 0 {
			sizes[n] = 3 + i%2
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	in := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		x := interp.NewTensor(interp.Shape(p.Axes, sizes)...)
		for i := range x.Data {
			x.Data[i] = rng.Float64() - 0.5
			if p.Elem == ir.Int {
				x.Data[i] = float64(3 * i)
			}
		}
		in[p.Name] = x
	}
	want := interp.Run(f, sizes, only(f, in))
	got := interp.Run(function, sizes, only(function, in))
	for name, x := range got {
		if in[name] == nil {
			in[name] = x
		}
	}
	for name, x := range interp.Run(rest, sizes, only(rest, in)) {
		if got[name] != nil {
			t.Errorf("%s is a result of the function and of the rest", name)
		}
		got[name] = x
	}
	for name, x := range want {
		if got[name] == nil || !slices.Equal(x.Data, got[name].Data) {
			t.Errorf("%s: %s is not the same", f.Name, name)
		}
	}
	for _, p := range function.Params {
		if p.Role == ir.State && p.Elem == ir.Real && !p.IsWindow() {
			t.Errorf("the function reads the state %s", p.Name)
		}
	}
}

// only are the values of the parameters of a program.
func only(f *ir.Func, all map[string]*interp.Tensor) map[string]*interp.Tensor {
	out := map[string]*interp.Tensor{}
	for _, p := range f.Params {
		out[p.Name] = all[p.Name]
	}
	return out
}
