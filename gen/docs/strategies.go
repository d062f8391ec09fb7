package docs

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/internal/parallel"
)

// forms lists for each rule the ways to compute it: by the markers that were proved of
// all its states, and by giving it every strategy.
func (d *collector) forms() {
	strategies := d.src.Tree.Kinds(notation.StrategyUnit)
	strategies = slices.DeleteFunc(strategies, func(u *notation.Unit) bool { return u.Example })
	for _, s := range strategies {
		d.site.Ways = append(d.site.Ways, linkTo(s.Name.Text))
	}
	var rules []*notation.Unit
	for _, e := range d.site.Entries {
		u := d.plans[e.Name]
		if e.Kind != notation.RuleUnit.String() || u == nil || d.chunked[e.Name] {
			continue
		}
		var states []string
		for _, s := range u.States {
			if !s.Tail {
				states = append(states, s.Name)
			}
		}
		has := func(marker string) string { return covers(d.proofs[e.Name], marker, states) }
		d.site.Forms = append(d.site.Forms, Form{Link: linkTo(e.Name), Scalar: has("ScalarAffineInState"), Affine: has("AffineInState"), Rows: has("RowIndependent")})
		rules = append(rules, d.src.Tree.Units[e.Name])
	}
	found := make([][]equivalence.Applicability, len(rules))
	parallel.Each(len(rules), runtime.GOMAXPROCS(0), func(i int) {
		for _, s := range strategies {
			found[i] = append(found[i], equivalence.Apply(d.src.Tree, s, rules[i]))
		}
	})
	for i, row := range found {
		for _, s := range row {
			d.site.Forms[i].Ways = append(d.site.Forms[i].Ways, d.applicability(s))
		}
	}
}

// applicability is the result of a strategy for a rule, as a cell of the table.
func (d *collector) applicability(s equivalence.Applicability) string {
	switch {
	case s.Refused != "":
		return fmt.Sprintf("no [%d]", d.reason(s.Refused))
	case s.Exact():
		return "exact"
	}
	off, tokens := s.Last()
	d.site.Tokens = tokens
	return fmt.Sprintf("off by %.1g", off)
}

// covers lists the states that a marker was proved for; one line of a page may name
// several.
func covers(r *proof.Report, marker string, states []string) string {
	found := map[string]bool{}
	if r != nil {
		for _, it := range r.Items {
			name, args, _ := strings.Cut(strings.TrimSuffix(it.Text, ")"), "(")
			if it.Kind == proof.Marker && it.Verdict == proof.Proved && name == marker {
				for a := range strings.SplitSeq(args, ", ") {
					found[ident.ASCII(a)] = true
				}
			}
		}
	}
	var have []string
	for _, s := range states {
		if found[s] {
			have = append(have, s)
		}
	}
	switch {
	case len(states) == 0:
		return "no state"
	case len(have) == len(states):
		return "yes"
	case len(have) == 0:
		return "no"
	}
	return "of " + strings.Join(have, ", ")
}
