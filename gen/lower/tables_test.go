package lower

import (
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/gen/ir"
)

// TestScanPassOrder holds the table of passes to the order that they require.
func TestScanPassOrder(t *testing.T) {
	at := map[string]int{}
	for i, p := range scanPasses {
		if _, twice := at[p.name]; twice {
			t.Errorf("two passes are called %q", p.name)
		}
		at[p.name] = i
	}
	constrained := map[string]bool{}
	for _, c := range scanPassOrder {
		for _, name := range []string{c.before, c.after} {
			if _, ok := at[name]; !ok {
				t.Errorf("the required order names %q, which is no pass", name)
			}
			constrained[name] = true
		}
		if at[c.before] >= at[c.after] {
			t.Errorf("%q must run before %q: %s", c.before, c.after, c.why)
		}
	}
	if i := slices.IndexFunc(scanPasses, func(p scanPass) bool { return !constrained[p.name] }); i >= 0 {
		t.Errorf("the required order does not say where %q belongs", scanPasses[i].name)
	}
}

// TestEveryPrimitiveIsLowered: a primitive is a call of scalars, has loops of
// its own, or is one of those that leaf.expr writes itself.
func TestEveryPrimitiveIsLowered(t *testing.T) {
	inline := []ir.Op{ir.Prod, ir.Lin, ir.Const, ir.SizeOf, ir.Iota, ir.Stop, ir.Override}
	for _, op := range ir.Ops() {
		ways := 0
		for _, way := range []bool{op.Called(), specials[op] != nil, slices.Contains(inline, op)} {
			if way {
				ways++
			}
		}
		if ways != 1 {
			t.Errorf("%v is lowered in %d ways", op, ways)
		}
	}
}
