package autodiff_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// TestNothingTwice: a rule's forward gives its backward what it computes
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

// TestShared: the same sum in two forms is computed once; a value is not taken
// for one that another operation makes, less exactly.
func TestShared(t *testing.T) {
	f := parse(t, `func f(x: input real[d]) {
 one [] = const : 1
 n [d] = prod i:d : -1 x[i]
 a [d] = sigmoid i:d : n[i]
 s [d] = sigmoid i:d : x[i]
 b [d] = lin i:d : one - s[i]
 p [d] = lin i:d : x[i] + x[i]
 q [d] = prod i:d : 2 x[i]
 return r = a
 return v = b
 return w = p
 return y = q
}`)
	for _, c := range []struct {
		a, b string
		want bool
	}{{"p", "q", true}, {"a", "b", false}, {"a", "s", false}} {
		if got := autodiff.Shared(f, c.a, c.b); got != c.want {
			t.Errorf("%s and %s are shared: %v", c.a, c.b, got)
		}
	}
}
