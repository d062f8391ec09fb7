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
func (r *resolver) expandLaw(f *notation.Formula) bool {
	knobs := map[notation.UnitKind]*notation.Unit{}
	first := len(r.srcs)
	for _, p := range f.Parts {
		u := r.page(p, units.Knobs...)
		if u == nil {
			return false
		}
		if old := knobs[u.Kind]; old != nil {
			r.ds.Errorf(diag.WrongPageKind, p.Span, "%s and %s are both %s", old.Name.Text, u.Name.Text, units.KindName(u.Kind))
			return false
		}
		knobs[u.Kind] = u
		r.srcs = append(r.srcs, expand.Source{Unit: u, Set: r.bind(u, p.Args, nil)})
	}
	for _, k := range units.Knobs {
		if knobs[k] == nil {
			r.ds.Errorf(diag.WrongPageKind, f.Span, "the formula has no %s", k).Hint("a rule is structure + bias + retention + algorithm")
			return false
		}
	}
	if !r.checkRequirements(f) {
		return false
	}
	laws := r.tree.Kinds(notation.LawUnit)
	if len(laws) != 1 {
		r.ds.Errorf(diag.UnknownPage, f.Span, "a formula of knobs needs exactly one law, and there are %d", len(laws))
		return false
	}
	srcs, ok := expand.Law(r.b.Unit, laws[0], r.srcs, first, r.ds)
	r.srcs = srcs
	return ok
}

// checkRequirements refuses a formula whose knobs do not provide what one of them requires,
// with one message for each line that requires.
func (r *resolver) checkRequirements(f *notation.Formula) bool {
	var knobs []*notation.Unit
	for _, p := range f.Parts {
		knobs = append(knobs, r.tree.Units[p.Name.Text])
	}
	bad := units.Violations(knobs)
	for i, v := range bad {
		if i > 0 && bad[i-1].Line == v.Line {
			continue
		}
		at := f.Parts[slices.Index(knobs, v.By)].Span
		mark := notation.Print(v.Mark, notation.Unicode)
		r.ds.Errorf(diag.IllegalFormula, at, "%s does not fit here: %s", v.By.Name.Text, v.Reason()).
			Labelf("requires %s", mark).
			See(v.Line.Span, "%s requires it", v.By.Name.Text).
			Hint("%s", r.remedy(v))
	}
	return len(bad) == 0
}

// remedy is a hint with the knobs that would meet a requirement.
func (r *resolver) remedy(v units.Violation) string {
	var names []string
	for _, k := range units.Knobs {
		for _, u := range r.tree.Whole().Kinds(k) {
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

// checkTrial refuses a trial line whose formula does not use its page.
func (r *resolver) checkTrial(u *notation.Unit, s *notation.Trial) {
	knob := slices.Contains(units.Knobs, u.Kind)
	if !knob && len(units.PartsOf(u)) == 0 {
		r.ds.Errorf(diag.NotHere, s.Span, "%s needs no trial: it is complete", u.Name.Text).Hint("take the line away")
		return
	}
	names := func(a *notation.Apply) bool { return a.Name.Text == u.Name.Text }
	if !slices.ContainsFunc(s.Formula.Parts, names) || !knob && len(s.Formula.Parts) != 1 {
		r.ds.Errorf(diag.NotHere, s.Formula.Span, "a trial of %s is a formula with %s", u.Name.Text, u.Name.Text).Hint("%s", map[bool]string{
			true: "write a structure, a bias, a retention and an algorithm, one of them this, over a front", false: "write " + u.Name.Text + "(…) with a page for each part"}[knob])
	}
}
