package vjpcheck

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Verdicts on lines and entries.

// A Verdict on a printed line, as it prints.
type Verdict string

const (
	Agrees    Verdict = "agrees"
	Disagrees Verdict = "disagrees"
	NotFormal Verdict = "not formal enough"
)

// A Line is the verdict on one printed adjoint.
type Line struct {
	Label   string  `json:"line"` // d_A; with a remark's second form, d_A (remark)
	Verdict Verdict `json:"verdict"`
	Points  int     `json:"points"`           // at which it was compared
	Wrong   int     `json:"wrong,omitempty"`  // at which it differed
	Detail  string  `json:"detail,omitempty"` // the counterexample, or what is missing
}

// An Entry is the verdicts on one entry of a table. Its own is the worst of its lines; one
// with a line that could be compared is not called informal.
type Entry struct {
	Page    string  `json:"page"`
	Section string  `json:"section,omitempty"`
	Name    string  `json:"entry"`
	Verdict Verdict `json:"verdict"`
	Lines   []Line  `json:"lines"`
}

// Check judges the tables of adjoints of pages. The names of functions in the tables are
// those of the tree, which has the tape operations.
func Check(pages []*spec.Page, tree *units.Tree) []Entry {
	var out []Entry
	w := newFunctions(tree)
	for _, p := range pages {
		t := &table{funcs: map[string]*definition{}, functions: w}
		vs := inspect.VJPEntries(p)
		for _, v := range vs {
			e := read(v)
			t.entries = append(t.entries, e)
			for n, d := range e.funcs {
				if t.funcs[n] == nil && !d.entryOnly && d.closed() {
					t.funcs[n] = d
				}
			}
		}
		for i, e := range t.entries {
			out = append(out, t.judgeEntry(e, p.File.Path, vs[i].Section))
		}
	}
	return out
}

// judgeEntry returns the verdicts on one entry. A panic on a page becomes a verdict, so
// that other entries are judged too.
func (t *table) judgeEntry(e *entry, page, section string) (out Entry) {
	defer func() {
		if r := recover(); r != nil {
			out = Entry{Page: page, Section: section, Name: e.name}
			for _, l := range e.lines {
				out.Lines = append(out.Lines, informal(l, fmt.Errorf("it cannot be translated, which is a bug worth a report: %v", r)))
			}
			out.sum()
		}
	}()
	out = Entry{Page: page, Section: section, Name: e.name}
	models, err := t.models(e)
	for i, l := range e.lines {
		var v Line
		if len(models) == 0 {
			v = informal(l, fmt.Errorf("the forward: %w", err))
		} else {
			v = judgeLine(models, i)
		}
		if l.note {
			v.Label += " (remark)"
		}
		out.Lines = append(out.Lines, v)
	}
	for _, m := range models {
		if c := m.compareForms(); c != nil {
			out.Lines = append(out.Lines, Line{Label: e.result, Verdict: Disagrees, Detail: "the forms of the forward differ: " + c.String()})
			break
		}
	}
	out.sum()
	return out
}

// sum computes the entry's verdict. A remark does not count against it.
func (e *Entry) sum() {
	e.Verdict = NotFormal
	for _, l := range e.Lines {
		switch {
		case strings.HasSuffix(l.Label, "(remark)"):
		case e.Verdict == NotFormal || l.Verdict == Disagrees:
			e.Verdict = l.Verdict
		}
	}
}

func informal(l *line, err error) Line {
	return Line{Label: l.label, Verdict: NotFormal, Detail: err.Error()}
}

// models builds the entry under every guess of shapes that fits, and keeps those under
// which most of its lines fit.
func (t *table) models(e *entry) (out []*model, err error) {
	if e.err != nil {
		return nil, e.err
	}
	for _, l := range e.lines {
		e.makeStep(l.of)
	}
	best := -1
	for _, r := range shapeGuesses {
		m, berr := attempt(func() *model { return t.build(e, r) })
		if berr != nil {
			if err == nil || isMisfit(err) {
				err = berr
			}
			continue
		}
		n := 0
		for _, l := range m.lines {
			if l.err == nil {
				n++
			}
		}
		switch {
		case n > best:
			best, out = n, []*model{m}
		case n == best:
			out = append(out, m)
		}
	}
	return out, err
}

// judgeLine compares one line in all models.
func judgeLine(models []*model, i int) Line {
	l := models[0].lines[i]
	if l.err != nil {
		v := informal(l.line, l.err)
		if isMisfit(l.err) {
			v.Verdict, v.Detail = Disagrees, "the shapes do not fit: "+v.Detail
		}
		return v
	}
	out := Line{Label: l.label, Verdict: Agrees}
	var all tally
	var wrong *model
	for _, m := range models {
		if m.lines[i].err != nil {
			continue
		}
		t := m.compare(m.lines[i], nil)
		out.Points += t.agree + t.differ
		out.Wrong += t.differ
		all.undefined += t.undefined
		all.constant = t.constant
		all.ordinary += t.ordinary
		if all.undefinedAt == nil {
			all.undefinedAt = t.undefinedAt
		}
		if all.worst == nil && t.worst != nil {
			all.worst, wrong = t.worst, m
		}
	}
	switch {
	case all.worst != nil:
		out.Verdict, out.Detail = Disagrees, all.worst.String()
		out.Detail += wrong.explain(wrong.lines[i], &all)
	case out.Points == 0:
		out.Verdict, out.Detail = NotFormal, "no point was found at which the forward has a value"
	case all.undefined > 0 && all.undefinedAt != nil:
		out.Detail = fmt.Sprintf("undefined at %s = 0", l.of)
	}
	return out
}

// explain says under which assumption a wrong line would be right.
func (m *model) explain(l *builtLine, t *tally) string {
	seed := "d_" + resultName
	fixed := func(of string, x float64) bool {
		one := m.compare(l, map[string]float64{of: x})
		return one.ordinary == 0 && one.agree > 0
	}
	if t.constant {
		return "; the forward is a step, whose derivative is 0: the line can only be declared"
	}
	if len(m.types[seed].axes) == 0 && !l.rhs.Mentions(seed) && fixed(seed, 1) {
		return "; it agrees where " + seed + " = 1, which it leaves out"
	}
	for _, n := range m.e.inputNames() {
		if m.isGuard(n) && fixed(n, tinyGuard) {
			return "; it agrees where " + n + " is too small to matter"
		}
	}
	if t.ordinary == 0 {
		return "; it differs only at tiny values"
	}
	return ""
}

// isGuard reports whether a constant is compared with values of the forward.
func (m *model) isGuard(of string) bool {
	if x := m.types[of]; x.elem != real || len(x.axes) > 0 || m.e.hasAdjoint(of) {
		return false
	}
	return slices.ContainsFunc(m.e.bodies(), func(b *pseudo.Node) bool {
		return b.Contains(func(n *pseudo.Node) bool {
			return n.Kind == pseudo.Call && len(n.Kids) == 2 && slices.ContainsFunc(n.Kids, func(k *pseudo.Node) bool { return k.Kind == pseudo.Name && k.Text == of })
		})
	})
}

// tinyGuard replaces a constant such as an epsilon that only zero would reach.
const tinyGuard = 1e-100
