package prove

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
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
	{"ScalarAffineInState", []string{"LinearRecurrence"}, true, byState((*recurrence).scalar)},
	{"RowIndependent", nil, true, byAnalysis((*recurrence).rows)},
	{"StateIndependentMomentum", nil, true, byState((*recurrence).onlySelf)},
	{"UnitSphere", nil, true, byRows(notation.SphereType)},
	{"ProbabilitySimplex", []string{"Simplex"}, true, byRows(notation.SimplexType)},
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
	autodiff.Simplify(g)
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
		if n := check.Nearest(m.Name.Text, MarkerNames()); n != "" {
			d.Hint("did you mean %s?", n)
		} else {
			d.Hint("known are %s", strings.Join(MarkerNames(), ", "))
		}
		return text
	}
	if row.derive == nil {
		p.settle(it, func() Evidence { return p.causalEvidence(f, m) }, f)
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
	}, f)
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
		return check.ID(name)
	}
	return check.ID(name) + ":" + strings.ReplaceAll(check.ASCII(args[1:]), ", ", ",")
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
		n := check.ASCII(a.Text)
		if r.carry[n] == nil {
			return nil, a.Text + " is no state of this rule"
		}
		out = append(out, n)
	}
	return out, ""
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

// unclaimed lists what holds and is not claimed: each property for the largest
// set of states, or for one of them.
func (p *prover) unclaimed(f *ir.Func, r *recurrence, claimed map[string]bool) {
	if r == nil || len(r.names()) == 0 {
		return
	}
	sets := [][]string{r.names()}
	if len(r.names()) > 1 {
		for _, n := range r.names() {
			sets = append(sets, []string{n})
		}
	}
	for _, row := range markerTable {
		if row.derive == nil || row.name == "UnitSphere" || row.name == "StateIndependentMomentum" && len(sets) == 1 {
			continue
		}
		for _, states := range sets {
			name := row.name + "(" + strings.Join(states, ", ") + ")"
			if claimed[name] || row.name == "ProbabilitySimplex" && !rowSoftmax(r.carry[states[0]].Next) {
				continue
			}
			if ev, _ := row.derive(p, r, states); ev.Verdict == Proved {
				ev.Note = "not claimed by the page"
				p.add(Item{Kind: Marker, Name: markID(row.name, name), Text: name, Span: p.unit.Span, Evidence: ev})
				break
			}
		}
	}
}

// causal settles the markers of a composition or model, of which only Causal
// means something.
func (p *prover) causal(f *ir.Func) {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			if !pr.Needs {
				p.marker(f, nil, m)
			}
		}
	}
}

// causalStages is causal for a composition whose parts are not given: each
// stage by itself, whatever a causal part answers.
func (p *prover) causalStages(q *irbuild.Program) {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			for _, s := range q.Stages {
				if s.Func != nil && !pr.Needs {
					p.marker(s.Func, nil, m)
				}
			}
		}
	}
}

// causalEvidence changes what comes after a token and looks whether anything
// up to it changes, bit by bit.
func (p *prover) causalEvidence(f *ir.Func, m *notation.Mark) Evidence {
	ev := Evidence{Verdict: Tested, Note: "bitwise"}
	frees := irbuild.Frees(p.blk, f)
	for i, sizes := range sizeSets(p.opt.Deep, f) {
		if sizes[tokens] < 2 {
			continue
		}
		draw := newSampler(p.blk, frees, sizes, "causal"+f.Name, i)
		params := draw.params(f)
		before := interp.Run(f, sizes, params)
		for cut := 1; cut < sizes[tokens]; cut++ {
			changed := map[string]*interp.Tensor{}
			for _, v := range f.Params {
				changed[v.Name] = later(f, v, params[v.Name], draw, cut)
			}
			after := interp.Run(f, sizes, changed)
			for _, r := range f.Results {
				n, bad := earlier(r, before[r.Name], after[r.Name], cut)
				ev.Points += n
				if bad != nil {
					p.ds.Errorf(diag.MarkerUnfounded, m.Span, "%s is not causal: a change at token %d changes %s%s", p.unit.Name.Text, cut, r.Name, at(bad)).
						Labelf("at %s", spelled(sizes)).See(p.unit.Name.Span, "defined here")
					return failed("a later token is seen")
				}
			}
		}
	}
	return ev
}

// later is an input with everything from token cut on drawn again.
func later(f *ir.Func, v *ir.Value, t *interp.Tensor, draw *sampler, cut int) *interp.Tensor {
	k := timeOf(v)
	if k < 0 || v.Role != ir.Input {
		return t
	}
	u, fresh := t.Clone(), draw.draw(v)
	for i := range u.Data {
		if index(u.Shape, i)[k] >= cut {
			u.Data[i] = fresh.Data[i]
		}
	}
	return u
}

// timeOf is the number of a value's axis of tokens, or −1.
func timeOf(v *ir.Value) int {
	return slices.IndexFunc(v.Axes, func(a *ir.Axis) bool { s, ok := a.Size.Symbol(); return ok && s == tokens })
}

// earlier compares a result before token cut; it returns the first entry that
// differs.
func earlier(r ir.Result, a, b *interp.Tensor, cut int) (int, []int) {
	k := timeOf(r.Val)
	if k < 0 || r.State {
		return 0, nil
	}
	n := 0
	for i := range a.Data {
		if idx := index(a.Shape, i); idx[k] < cut {
			n++
			if math.Float64bits(a.Data[i]) != math.Float64bits(b.Data[i]) {
				return n, idx
			}
		}
	}
	return n, nil
}

// requirements settles what the knobs of a formula require of one another.
func (p *prover) requirements() {
	for _, pr := range p.blk.Provides {
		for _, m := range pr.Marks {
			if pr.Needs {
				p.requirement(pr, m)
			}
		}
	}
}

func (p *prover) requirement(pr *notation.Provides, m *notation.Mark) {
	text := markText(m)
	it := Item{Kind: Requires, Name: markID(m.Name.Text, text), Text: text, Span: pr.Span}
	row := markerNamed(m.Name.Text)
	if row == nil || row.derive == nil || p.rec == nil {
		it.Evidence = failed("no such marker")
		p.add(it)
		p.ds.Errorf(diag.UnknownMarker, m.Name.Span, "%s cannot be required here", text).Hint("known are %s", strings.Join(MarkerNames(), ", "))
		return
	}
	states := p.meant(m)
	ev, _ := row.derive(p, p.rec, states)
	if ev.Verdict == Failed {
		reason := ""
		if pr.Reason != nil {
			reason = ": " + pr.Reason.Value
		}
		p.ds.Errorf(diag.MarkerUnfounded, pr.Span, "%s is required, but %s does not have it%s", text, p.unit.Name.Text, reason).
			See(p.unit.Name.Span, "in this formula").Hint("choose a structure and a retention that fit together")
	} else {
		ev.Note = fmt.Sprintf("of %s", strings.Join(states, ", "))
	}
	it.Evidence = ev
	p.add(it)
}

// meant are the states that a requirement speaks of: by name, or, when a knob
// speaks of its own parameter, every weight of the structure.
func (p *prover) meant(m *notation.Mark) []string {
	var out []string
	for _, a := range m.Args {
		if n := check.ASCII(a.Text); p.rec.carry[n] != nil {
			out = append(out, n)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, s := range p.blk.SymSeq {
		if n := check.ASCII(s.Name); p.rec.carry[n] != nil && s.Kind == check.State && s.Unit != nil && s.Unit.Kind == notation.StructUnit {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return p.rec.names()
	}
	return out
}
