package autodiff_test

import (
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
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
