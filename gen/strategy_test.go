package gen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/source"
)

// rulesOf are the rules of the project that no strategy computes and that know
// nothing of calls.
func rulesOf(t *testing.T, s *gen.Source) []*notation.Unit {
	t.Helper()
	return slices.DeleteFunc(s.Tree.Kinds(notation.RuleUnit), func(u *notation.Unit) bool {
		b, ds := check.Instantiate(s.Tree, u)
		snaps := b != nil && slices.ContainsFunc(b.SymSeq, func(s *check.Symbol) bool { return s.Kind == check.Snap })
		return u.Example || b == nil || ds.HasErrors() || b.Strategy != nil || snaps
	})
}

// TestFrozenBoundaryOfEveryRule gives every rule the frozen boundary, which
// needs no line of its page: with chunks of one token it is the rule, and with
// longer ones no answer leaves the numbers.
func TestFrozenBoundaryOfEveryRule(t *testing.T) {
	if testing.Short() {
		t.Skip("proves every rule once more")
	}
	specs := specFiles(t)
	s, ds := gen.LoadFiles(specs...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	var page strings.Builder
	page.WriteString(messageHead)
	rules := rulesOf(t, s)
	for _, u := range rules {
		fmt.Fprintf(&page, "rule Frozen%s = Chunkwise(%s)\n\n", u.Name.Text, u.Name.Text)
	}
	page.WriteString("```\n")
	s, ds = gen.LoadFiles(append(specs, source.NewFile("page.md", page.String()))...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range rules {
		t.Run(u.Name.Text, func(t *testing.T) {
			v := s.Tree.Units["Frozen"+u.Name.Text]
			rep, ds := prove.Block(s.Tree, v, prove.Options{Facts: true})
			if ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			off, bad := prove.Approximation(s.Tree, v)
			if bad != nil {
				t.Fatal(bad.Error())
			}
			if off[0] != 0 {
				t.Errorf("with chunks of one token it is off by %g", off[0])
			}
			if w := rep.Worst(); w == prove.Failed {
				t.Errorf("the proof failed")
			}
			t.Logf("off by %.2g", off)
		})
	}
}

// TestApproximationGrows wants the frozen boundary of the delta rule to be
// farther off the longer a chunk is, and about twice as far at twice the length
// where chunks are short and rates small, as they are where a model starts.
func TestApproximationGrows(t *testing.T) {
	s, ds := gen.LoadFiles(specFiles(t)...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	off, bad := prove.Approximation(s.Tree, s.Tree.Units["DeltaFrozen"])
	if bad != nil {
		t.Fatal(bad.Error())
	}
	if !slices.IsSorted(off) {
		t.Errorf("off by %v, which does not grow", off)
	}
	const least, most = 1.5, 4.5 // of a slope of one there are few tokens to see
	if r := off[2] / off[1]; !(r >= least && r <= most) {
		t.Errorf("off by %g at two tokens and %g at four, %.2g times as far", off[1], off[2], r)
	}
}

// TestExactAtEveryLength holds the exact strategies to their rules at the
// lengths that a quick proof leaves out.
func TestExactAtEveryLength(t *testing.T) {
	if testing.Short() {
		t.Skip("chunks of 64 tokens")
	}
	s, ds := gen.LoadFiles(specFiles(t)...)
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	for _, u := range s.Tree.Kinds(notation.RuleUnit) {
		b, _ := check.Instantiate(s.Tree, u)
		if u.Example || b == nil || b.Strategy == nil || b.Strategy.Approximate() {
			continue
		}
		t.Run(u.Name.Text, func(t *testing.T) {
			rep, ds := prove.Block(s.Tree, u, prove.Options{Facts: true, Deep: true})
			if ds.HasErrors() {
				t.Fatal(ds.Error())
			}
			if !slices.ContainsFunc(rep.Items, func(it prove.Item) bool { return it.Kind == prove.Claim && it.Verdict == prove.Tested }) {
				t.Errorf("nothing is claimed of it")
			}
		})
	}
}
