package lower

import (
	"slices"
	"testing"
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
