package autodiff_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// TestNothingTwice: a rule's forward saves for its backward what it computes
// anyway, whatever form the backward had it in, and no pair computes a sum or a
// function twice.
func TestNothingTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	src, ds := gen.Load("../../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range src.Tree.Order {
		if u.Kind != notation.RuleUnit {
			continue
		}
		blk, ds := check.Instantiate(src.Tree, u)
		if ds.HasErrors() {
			t.Fatal(ds.Error())
		}
		f := irbuild.Rule(blk, &ds)
		if f == nil {
			continue // a part of a rule
		}
		p := autodiff.NewPair(f)
		for _, twins := range append(autodiff.Twins(p.Fwd), autodiff.Twins(p.Bwd)...) {
			t.Errorf("%s computes twice, in %s", u.Name.Text, twins)
		}
	}
}

// TestConditionSaved: a backward that needs of an error only whether it is bounded does not
// compute the error again, since the forward saves what decides the condition.
func TestConditionSaved(t *testing.T) {
	f, err := ir.Parse(`func clipped(M: state real[L, n, d], k: input real[L, T, d], v: input real[L, T, n]) {
  axes L, T, n, d
  scan clipped.step over L, T as @1 { ; clipped
    carry M [n, d] from M to M.next [L, n, d]
    token k [d] from k
    token v [n] from v
    %1 [n] = prod i:n j:d : M[i, j] k[j]
    %2 [n] = lin i:n : %1[i] - v[i]
    %3 [] = const : 1
    %4 bool[n] = le i:n : %2[i] %3
    %5 [n] = select i:n : %4[i] %2[i] %3
    %6 [n, d] = prod i:n j:d : %5[i] k[j]
    %7 [n, d] = lin i:n j:d : M[i, j] - %6[i, j]
    next M = %7
  }
  return state M = M.next
}
`)
	if err != nil {
		t.Fatal(err)
	}
	p := autodiff.NewPair(f)
	_, adjoint, _ := strings.Cut(p.Bwd.String(), " reverse of ")
	if strings.Contains(adjoint, "M[i, j] k[j]") || strings.Contains(adjoint, "k[j] M[i, j]") {
		t.Errorf("the backward computes the error again:\n%s", p.Bwd)
	}
}
