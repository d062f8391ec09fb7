package prove

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// A marker is a fact that a page may provide and another may require. The
// table is closed: what is not in it means nothing. Each is derived from the
// equations, and what is derived but not claimed is listed too, since it
// decides which strategies are legal.
type marker struct {
	name    string
	aliases []string // as the literature and other trees call it
	states  bool     // speaks of states
	derive  func(p *prover, r *recurrence, states []string) (Evidence, blame)
}

var markerTable = []marker{
	{"AffineInState", []string{"AffineRecurrence", "LinearInState"}, true, byAnalysis((*recurrence).affine)},
	{"ScalarAffineInState", []string{"LinearRecurrence"}, true, byAnalysis((*recurrence).scalars)},
	{"RowIndependent", nil, true, byAnalysis(independent(0))},
	{"ColumnIndependent", nil, true, byAnalysis(independent(1))},
	{"StateIndependentMomentum", nil, true, byState((*recurrence).onlySelf)},
	{"UnitSphere", nil, true, byRows(check.RowSets["UnitSphere"])},
	{"ProbabilitySimplex", []string{"Simplex"}, true, byRows(check.RowSets["ProbabilitySimplex"])},
	{"LearnedStart", nil, true, learnedStart},
	{"Matrices", nil, true, byState((*recurrence).matrix)},
	{"Causal", nil, false, nil},
}

// MarkerNames lists the properties that a page may provide.
func MarkerNames() []string {
	var out []string
	for _, m := range markerTable {
		out = append(out, m.name)
	}
	return out
}

func markerNamed(name string) *marker {
	for i, m := range markerTable {
		if m.name == name || slices.Contains(m.aliases, name) {
			return &markerTable[i]
		}
	}
	return nil
}

func byAnalysis(f func(*recurrence, []string) (bool, blame)) func(*prover, *recurrence, []string) (Evidence, blame) {
	return func(_ *prover, r *recurrence, states []string) (Evidence, blame) {
		if ok, b := f(r, states); !ok {
			return Evidence{Verdict: Failed}, b
		}
		return Evidence{Verdict: Proved}, blame{}
	}
}

func byState(f func(*recurrence, string) (bool, blame)) func(*prover, *recurrence, []string) (Evidence, blame) {
	return byAnalysis(func(r *recurrence, states []string) (bool, blame) {
		for _, s := range states {
			if ok, b := f(r, s); !ok {
				return false, b
			}
		}
		return true, blame{}
	})
}

// matrix reports whether a state has rows and columns.
func (r *recurrence) matrix(state string) (bool, blame) {
	next := r.carry[state].Next
	if n := len(next.Axes); n != 2 {
		return false, blame{next.Def, fmt.Sprintf("has %d axes", n)}
	}
	return true, blame{}
}

// byRows proves that the rows of a state stay on the sphere or the simplex: a
// softmax over the row is one, anything else is followed for a while.
func byRows(kind notation.TypeKind) func(*prover, *recurrence, []string) (Evidence, blame) {
	return func(p *prover, r *recurrence, states []string) (Evidence, blame) {
		all := true
		for _, s := range states {
			next := r.carry[s].Next
			all = all && kind == notation.SimplexType && rowSoftmax(next)
		}
		if all {
			return Evidence{Verdict: Proved}, blame{}
		}
		ev, bad := p.stayOn(kind, states)
		if ev.Verdict == Failed {
			return ev, blame{r.carry[bad].Next.Def, ev.Note}
		}
		return ev, blame{}
	}
}

// rowSoftmax reports whether a value is a softmax over its last axis.
func rowSoftmax(v *ir.Value) bool {
	for v.Def != nil && v.Def.Op == ir.Prod && len(v.Def.Args) == 1 && v.Def.Coef[0] == 1 && ir.Identity(v.Def.To, len(v.Axes)) && ir.Identity(v.Def.Args[0].Sub, len(v.Axes)) {
		v = v.Def.Args[0].Val
	}
	in := v.Def
	if in == nil || in.Op != ir.Softmax || len(in.Over) != 1 || len(v.Axes) == 0 {
		return false
	}
	l, ok := in.To[len(in.To)-1].Loop()
	return ok && l == in.Over[0] && len(in.Guard) == 0
}

// markers compares what a rule's pages provide with what is derived.
func (p *prover) markers(f *ir.Func) {
	g, _ := f.Clone()
	simplify.Simplify(g)
	r := recurrenceOf(g)
	p.rec = r
	claimed := map[string]bool{}
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			if !pr.Needs {
				claimed[p.marker(f, r, m)] = true
			}
		}
	}
	p.unclaimed(f, r, claimed)
}

// marker settles one marker and returns its canonical text.
func (p *prover) marker(f *ir.Func, r *recurrence, m *notation.Mark) string {
	text := markText(m)
	it := Item{Kind: Marker, Name: markID(m.Name.Text, text), Text: text, Span: m.Span}
	row := markerNamed(m.Name.Text)
	if row == nil {
		it.Evidence = failed("no such marker")
		p.add(it)
		d := p.ds.Errorf(diag.UnknownMarker, m.Name.Span, "%s is no property that the compiler knows", m.Name.Text)
		if n := ident.Nearest(m.Name.Text, MarkerNames()); n != "" {
			d.Hint("did you mean %s?", n)
		} else {
			d.Hint("known are %s", strings.Join(MarkerNames(), ", "))
		}
		return text
	}
	if row.derive == nil {
		p.settle(it, func() Evidence { return p.causalEvidence(f, m) })
		return row.name
	}
	states, bad := p.markStates(r, m)
	if bad != "" {
		it.Evidence = failed(bad)
		p.add(it)
		p.ds.Errorf(diag.MarkerUnfounded, m.Span, "%s: %s", text, bad)
		return text
	}
	p.settle(it, func() Evidence {
		ev, b := row.derive(p, r, states)
		if ev.Verdict == Failed {
			p.markerWrong(m, text, b)
		}
		return ev
	})
	return row.name + "(" + strings.Join(states, ", ") + ")"
}

// markText prints a marker with the names that it speaks of.
func markText(m *notation.Mark) string {
	var names []string
	for _, a := range m.Args {
		names = append(names, a.Text)
	}
	if len(names) == 0 {
		return m.Name.Text
	}
	return m.Name.Text + "(" + strings.Join(names, ", ") + ")"
}

// markID is the stable name of a marker: affine_in_state:m,s.
func markID(name, text string) string {
	args := strings.TrimSuffix(strings.TrimPrefix(text, name), ")")
	if args == "" {
		return ident.ID(name)
	}
	return ident.ID(name) + ":" + strings.ReplaceAll(ident.ASCII(args[1:]), ", ", ",")
}

// markStates are the states that a marker names, as the program spells them.
func (p *prover) markStates(r *recurrence, m *notation.Mark) ([]string, string) {
	if r == nil {
		return nil, "this block has no recurrence"
	}
	if len(m.Args) == 0 {
		return nil, "it must name the states that it speaks of"
	}
	var out []string
	for _, a := range m.Args {
		n := ident.ASCII(a.Text)
		if r.carry[n] == nil && p.ofKnob(m) {
			return p.meant(m), ""
		}
		if r.carry[n] == nil {
			return nil, a.Text + " is no state of this rule"
		}
		out = append(out, n)
	}
	return out, ""
}

// ofKnob reports whether a marker stands on the page of a knob that speaks of
// any weight under a name of its own.
func (p *prover) ofKnob(m *notation.Mark) bool {
	for _, u := range p.tree.Order {
		if u.Kind != notation.BiasUnit && u.Kind != notation.RetentionUnit && u.Kind != notation.AlgorithmUnit {
			continue
		}
		if slices.ContainsFunc(u.Body, func(st notation.Stmt) bool {
			pr, ok := st.(*notation.Provides)
			return ok && slices.ContainsFunc(pr.Marks, func(o *notation.Mark) bool { return o.Span == m.Span })
		}) {
			return true
		}
	}
	return false
}

func (p *prover) markerWrong(m *notation.Mark, text string, b blame) {
	why := b.why
	if why == "" {
		why = "is not of this form"
	}
	d := p.ds.Errorf(diag.MarkerUnfounded, m.Span, "%s does not follow from the equations", text)
	if b.in != nil && !b.in.Span.IsZero() {
		d.See(b.in.Span, "this %s", why)
	} else {
		d.Labelf("%s", why)
	}
	d.Hint("take it off the list, or change the equation")
}

// manyStates is how many states a rule may have before their sets are too many to try:
// of more, only all together and each alone.
const manyStates = 6

// setsOf lists the sets of names, the larger ones first.
func setsOf(names []string) [][]string {
	out := [][]string{}
	for bits := 1; bits < 1<<min(len(names), manyStates) && len(names) <= manyStates; bits++ {
		var set []string
		for i, n := range names {
			if bits>>i&1 == 1 {
				set = append(set, n)
			}
		}
		out = append(out, set)
	}
	if len(names) > manyStates {
		out = append(out, names)
		for _, n := range names {
			out = append(out, []string{n})
		}
	}
	slices.SortStableFunc(out, func(a, b []string) int { return len(b) - len(a) })
	return out
}

// within reports whether one of some sets has all of the names.
func within(sets [][]string, names []string) bool {
	return slices.ContainsFunc(sets, func(s []string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return !slices.Contains(s, n) })
	})
}

// unclaimed lists what holds and is not claimed: each property for every largest set
// of states.
func (p *prover) unclaimed(f *ir.Func, r *recurrence, claimed map[string]bool) {
	if r == nil || len(r.names()) == 0 {
		return
	}
	sets := setsOf(r.names())
	for _, row := range markerTable {
		if row.derive == nil || row.name == "UnitSphere" || row.name == "Matrices" || row.name == "StateIndependentMomentum" && len(sets) == 1 {
			continue
		}
		var said [][]string
		for c := range claimed {
			if of, ok := strings.CutPrefix(c, row.name+"("); ok {
				said = append(said, strings.Split(strings.TrimSuffix(of, ")"), ", "))
			}
		}
		for _, states := range sets {
			name := row.name + "(" + strings.Join(states, ", ") + ")"
			if within(said, states) || row.name == "ProbabilitySimplex" && slices.ContainsFunc(states, func(n string) bool { return !rowSoftmax(r.carry[n].Next) }) {
				continue
			}
			if ev, _ := row.derive(p, r, states); ev.Verdict == Proved {
				ev.Note = "not claimed by the page"
				p.add(Item{Kind: Marker, Name: markID(row.name, name), Text: name, Span: p.unit.Span, Evidence: ev})
				said = append(said, states)
			}
		}
	}
}
