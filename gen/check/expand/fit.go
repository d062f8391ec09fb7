package expand

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A fit line of a structure, `fit W1, W2 : prediction → target with …`, lists the weights
// that learn. In the prediction a weight of the line has no time: the gradient is taken
// with respect to it. Everything else is read at a time, a weight of another line too. A
// local definition with a time, c_t = …, is a value of the token and an equation of the
// rule; one without is part of the prediction.

// A fitLine is a fit line that has been checked and split.
type fitLine struct {
	*notation.Fit
	predict, target notation.Expr // weights of other lines are what the law reads
	locals          []*notation.Define
	timed           []notation.Stmt // local definitions with a time, as equations
}

func (f *fitLine) has(name string) bool {
	return slices.ContainsFunc(f.Weights, func(w notation.Word) bool { return w.Text == name })
}

func (f *fitLine) local(name string) *notation.Define {
	for _, d := range f.locals {
		if d.Target.Name.Name.Text == name {
			return d
		}
	}
	return nil
}

// suffix is the suffix of a name that is written for each fit.
func (f *fitLine) suffix() string { return "_" + f.Weights[0].Text }

// fitOf is the line that fits a weight, or nil.
func (e *expander) fitOf(weight string) *fitLine {
	for _, f := range e.fits {
		if f.has(weight) {
			return f
		}
	}
	return nil
}

// fitLines reads and checks the fit lines of the structure.
func (e *expander) fitLines() bool {
	u := e.knobs[notation.StructUnit]
	n, ok := 0, true
	for _, st := range u.Body {
		f, isFit := st.(*notation.Fit)
		if !isFit {
			continue
		}
		for i, w := range f.Weights {
			n++
			old := e.fitOf(w.Text)
			switch {
			case weightDecl(u.Body, w.Text) == nil:
				ok = false
				e.ds.Errorf(diag.BadFit, w.Span, "%s is fitted, but %s declares no weight %s", w.Text, u.Name.Text, w.Text).
					Hint("declare it: weight %s ∈ …", w.Text)
			case old != nil || slices.ContainsFunc(f.Weights[:i], func(v notation.Word) bool { return v.Text == w.Text }):
				ok = false
				d := e.ds.Errorf(diag.BadFit, w.Span, "%s is fitted twice", w.Text)
				if old != nil {
					d.See(old.Span, "it is fitted here")
				}
			}
		}
		e.fits = append(e.fits, &fitLine{Fit: f})
	}
	if n == 0 {
		e.ds.Errorf(diag.MissingEquation, u.Name.Span, "structure %s has no fit", u.Name.Text).Hint("write fit W : prediction → target")
		return false
	}
	e.manyWeights, e.manyFits = n > 1, len(e.fits) > 1
	for _, f := range e.fits {
		ok = ok && e.checkFit(f)
	}
	return ok && !e.hasFitCycle()
}

// checkFit checks what a line reads at which time and splits its local definitions.
func (e *expander) checkFit(f *fitLine) bool {
	for _, w := range f.With {
		if !strings.HasSuffix(w.Target.Name.Name.Text, "_t") {
			f.locals = append(f.locals, w)
		}
	}
	ok := true
	refuse := func(at notation.Span, text string, args ...any) *diag.Diagnostic {
		ok = false
		return e.ds.Errorf(diag.BadFit, at, text, args...)
	}
	for _, i := range indices(f.Fit) {
		if f.has(i.Text) || f.local(i.Text) != nil {
			refuse(i.Span, "the index %s has the name of something in this line", i.Text).Hint("give it another letter")
		}
	}
	fitted := map[string]bool{}
	e.visitWeights(f, f.Fit.Predict, map[string]bool{}, func(id *notation.Ident, w string, timed bool) {
		switch {
		case !f.has(w) && !timed:
			refuse(id.Span, "%s is fitted by another line, and read here without a time", w).See(e.fitOf(w).Span, "it is fitted here").
				Hint("write %s_{t−1} for its value before the token, %s_t for the one after that line", w, w)
		case f.has(w) && timed:
			refuse(id.Span, "the prediction reads the weight %s, which it fits, at a time", w).
				Hint("write %s: the prediction is a function of it", w)
		}
		fitted[w] = fitted[w] || !timed
	})
	for _, w := range f.Weights {
		if ok && !fitted[w.Text] {
			refuse(w.Span, "%s is fitted, but the prediction does not read it", w.Text).
				See(f.Fit.Predict.Where(), "the prediction").Hint("let the prediction read %s without a time", w.Text)
		}
	}
	value := func(x notation.Expr, what string) {
		e.visitWeights(f, x, map[string]bool{}, func(id *notation.Ident, w string, timed bool) {
			if !timed {
				refuse(id.Span, "%s is a value, and %s in it is a weight without a time", what, w).Hint("write %s_{t−1}, the value before the token", w)
			}
		})
	}
	value(f.Fit.Target, "the target")
	for _, w := range f.With {
		if f.local(w.Target.Name.Name.Text) == nil {
			value(w.Value, w.Target.Name.Name.Text)
		}
	}
	ok = ok && !e.hasLocalCycle(f, nil)
	if ok {
		e.splitLocals(f)
	}
	return ok
}

// hasLocalCycle refuses a local definition that reads itself (depth-first search); way is
// the path to it.
func (e *expander) hasLocalCycle(f *fitLine, way []*notation.Define) bool {
	from := f.locals
	if len(way) > 0 {
		from = way[len(way)-1:]
	}
	for _, d := range from {
		path := append(slices.Clone(way), d)
		for id := range notation.Idents(d.Value) {
			to := f.local(id.Name.Text)
			if to != nil && slices.Contains(path, to) {
				e.ds.Errorf(diag.Cycle, id.Span, "%s needs itself", id.Name.Text).See(to.Span, "defined here")
				return true
			}
			if to != nil && e.hasLocalCycle(f, append(path, to)) {
				return true
			}
		}
	}
	return false
}

// hasFitCycle refuses two lines each of which reads what the other one writes.
func (e *expander) hasFitCycle() bool {
	for i, f := range e.fits {
		for _, g := range e.fits[:i+1] {
			there, back := e.readsWritten(f, g), e.readsWritten(g, f)
			if there == nil || back == nil {
				continue
			}
			d := e.ds.Errorf(diag.Cycle, there.Span, "the line reads a weight that is written after it")
			if back != there {
				d.See(back.Span, "the other line comes after this one")
			}
			d.Hint("read one of them before the token: _{t−1}")
			return true
		}
	}
	return false
}

// readsWritten is where a line reads what another one writes at the same token, or nil.
func (e *expander) readsWritten(f, g *fitLine) *notation.Ident {
	values := []notation.Expr{f.Fit.Predict, f.Fit.Target}
	for _, w := range f.With {
		values = append(values, w.Value)
	}
	for _, x := range values {
		for id := range notation.Idents(x) {
			if id.Time == nil && strings.HasSuffix(id.Name.Text, "_t") && g.has(notation.Base(id.Name.Text)) {
				return id
			}
		}
	}
	return nil
}

// visitWeights visits the weights in an expression of a line and in the local definitions
// that it reads.
func (e *expander) visitWeights(f *fitLine, x notation.Expr, seen map[string]bool, visit func(id *notation.Ident, w string, timed bool)) {
	for id := range notation.Idents(x) {
		if w, timed := e.weightAt(id); w != "" {
			visit(id, w, timed)
		}
		if d := f.local(id.Name.Text); d != nil && !seen[id.Name.Text] {
			seen[id.Name.Text] = true
			e.visitWeights(f, d.Value, seen, visit)
		}
	}
}

// splitLocals replaces weights that are read at a time by what the law reads, and makes
// equations of the local definitions with a time.
func (e *expander) splitLocals(f *fitLine) {
	f.predict, f.target = e.readAs(f.Fit.Predict, nil), e.readAs(f.Fit.Target, nil)
	for i, d := range f.locals {
		f.locals[i] = e.withReads(d)
	}
	for _, w := range f.With {
		if f.local(w.Target.Name.Name.Text) != nil {
			continue
		}
		d := *e.withReads(w)
		p := &inliner{fit: f}
		d.Value = p.expr(d.Value, nil)
		d.With = append(slices.Clone(d.With), p.with...)
		f.timed = append(f.timed, &d)
	}
}

// An inliner copies expressions of a fit line with other expressions for its weights, and
// gathers the local definitions that the copies need, each under a fresh name.
type inliner struct {
	fit  *fitLine
	with []*notation.Define
	made map[string]string // local name and what its weights are → its name here

	names []string
}

// expr is an expression of the line with the expressions that at gives for its weights.
func (p *inliner) expr(x notation.Expr, at map[string]notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		id, ok := n.(*notation.Ident)
		if !ok {
			return nil
		}
		if y := at[id.Name.Text]; y != nil && id.Time == nil {
			return y
		}
		if d := p.fit.local(id.Name.Text); d != nil && id.Time == nil {
			return id.Named(notation.Word{Span: id.Name.Span, Text: p.local(d, at)})
		}
		return nil
	})
}

// local copies a local definition and returns its name here.
func (p *inliner) local(d *notation.Define, at map[string]notation.Expr) string {
	key := d.Target.Name.Name.Text
	for _, w := range p.fit.Weights {
		if at[w.Text] != nil {
			key += "|" + notation.Print(at[w.Text], notation.Unicode)
		}
	}
	if p.made[key] != "" {
		return p.made[key]
	}
	if p.made == nil {
		p.made = map[string]string{}
	}
	name := d.Target.Name.Name.Text
	for slices.Contains(p.names, name) {
		name += "′"
	}
	p.made[key], p.names = name, append(p.names, name)
	c := d.Named(notation.Word{Span: d.Target.Name.Name.Span, Text: name})
	c.Value, c.With = p.expr(d.Value, at), nil
	p.with = append(p.with, c)
	return name
}
