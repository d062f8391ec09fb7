package prove_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen/prove/mutation"
)

// Every kind of break is made of some page, and none leaves the page as it is.
func TestMutants(t *testing.T) {
	s := specs(t)
	kinds := map[string]int{}
	for _, f := range s.Files {
		for _, m := range mutation.Mutants(f) {
			kinds[m.Kind]++
			if m.Text() == f.Source.Text {
				t.Errorf("%v changes nothing", m)
			}
		}
	}
	for _, k := range []string{"sign", "factor", "operator", "order", "time", "name", "transpose", "function", "axis", "index", "comparison", "claim", "marker", "option"} {
		if kinds[k] == 0 {
			t.Errorf("no mutant of kind %s", k)
		}
	}
	t.Log(kinds)
}
