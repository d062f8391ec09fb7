package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// expandLaw adds the knobs of a formula and the law, written out, to the sources of the
// block.
func (in *instancer) expandLaw(f *notation.Formula) bool {
	knobs := map[notation.UnitKind]*notation.Unit{}
	first := len(in.srcs)
	for _, p := range f.Parts {
		u := in.page(p, units.Knobs...)
		if u == nil {
			return false
		}
		if old := knobs[u.Kind]; old != nil {
			in.ds.Errorf(diag.WrongPageKind, p.Span, "%s and %s are both %s", old.Name.Text, u.Name.Text, units.KindName(u.Kind))
			return false
		}
		knobs[u.Kind] = u
		in.srcs = append(in.srcs, expand.Source{Unit: u, Set: in.bind(u, p.Args, nil)})
	}
	for _, k := range units.Knobs {
		if knobs[k] == nil {
			in.ds.Errorf(diag.WrongPageKind, f.Span, "the formula has no %s", k).Hint("a rule is structure + bias + retention + algorithm")
			return false
		}
	}
	if !in.legal(f) {
		return false
	}
	laws := in.tree.Kinds(notation.LawUnit)
	if len(laws) != 1 {
		in.ds.Errorf(diag.UnknownPage, f.Span, "a formula of knobs needs exactly one law, and there are %d", len(laws))
		return false
	}
	srcs, ok := expand.Law(in.b.Unit, laws[0], in.srcs, first, in.ds)
	in.srcs = srcs
	return ok
}

// legal refuses a formula whose knobs do not get what they require; one message
// for each line that requires.
func (in *instancer) legal(f *notation.Formula) bool {
	var knobs []*notation.Unit
	for _, p := range f.Parts {
		knobs = append(knobs, in.tree.Units[p.Name.Text])
	}
	bad := units.Violations(knobs)
	for i, v := range bad {
		if i > 0 && bad[i-1].Line == v.Line {
			continue
		}
		at := f.Parts[slices.Index(knobs, v.By)].Span
		mark := notation.Print(v.Mark, notation.Unicode)
		in.ds.Errorf(diag.IllegalFormula, at, "%s does not fit here: %s", v.By.Name.Text, v.Reason()).
			Labelf("requires %s", mark).
			See(v.Line.Span, "%s requires it", v.By.Name.Text).
			Hint("%s", in.remedy(v))
	}
	return len(bad) == 0
}

// remedy names the knobs that would meet a requirement.
func (in *instancer) remedy(v units.Violation) string {
	var names []string
	for _, k := range units.Knobs {
		for _, u := range in.tree.Whole().Kinds(k) {
			if k != v.By.Kind && !u.Example && units.Meets(u, v.Mark.Name.Text) {
				names = append(names, k.String()+" "+u.Name.Text)
			}
		}
	}
	if len(names) == 0 {
		return "no page provides " + v.Mark.Name.Text
	}
	return v.Mark.Name.Text + " is provided by " + strings.Join(names, ", ")
}
