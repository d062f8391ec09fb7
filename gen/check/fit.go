package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A fit line of a structure, `fit W1, W2 : prediction → target with …`, lists
// what learns. In the prediction a weight of the line stands without a moment:
// that is the place through which the gradient goes. Everything else is read at
// a moment, a weight of another line too. A local name with a moment, c_t = …,
// is a value of the token and an equation of the rule; one without is part of
// the prediction.

// A fitting is a fit line made ready for the law.
type fitting struct {
	*notation.Fit
	predict, target notation.Expr // weights of other lines are what the law reads
	locals          []*notation.Define
	timed           []notation.Stmt // local names with a moment, as equations
}

func (f *fitting) has(name string) bool {
	return slices.ContainsFunc(f.Weights, func(w notation.Word) bool { return w.Text == name })
}

func (f *fitting) local(name string) *notation.Define {
	for _, d := range f.locals {
		if d.Target.Name.Name.Text == name {
			return d
		}
	}
	return nil
}

// suffix is what stands behind a name that is written for each fit.
func (f *fitting) suffix() string { return "_" + f.Weights[0].Text }

// fitOf is the line that fits a weight, or nil.
func (e *expander) fitOf(weight string) *fitting {
	for _, f := range e.fits {
		if f.has(weight) {
			return f
		}
	}
	return nil
}

// fitLines reads and judges the fit lines of the structure.
func (e *expander) fitLines() bool {
	u := e.knobs[notation.StructUnit]
	weights := declaredWeights(u)
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
			case !weights[w.Text]:
				ok = false
				e.in.ds.Errorf(diag.BadFit, w.Span, "%s is fitted, but %s declares no weight %s", w.Text, u.Name.Text, w.Text).
					Hint("declare it: weight %s ∈ …", w.Text)
			case old != nil || slices.ContainsFunc(f.Weights[:i], func(v notation.Word) bool { return v.Text == w.Text }):
				ok = false
				d := e.in.ds.Errorf(diag.BadFit, w.Span, "%s is fitted twice", w.Text)
				if old != nil {
					d.See(old.Span, "it is fitted here")
				}
			}
		}
		e.fits = append(e.fits, &fitting{Fit: f})
	}
	if n == 0 {
		e.in.ds.Errorf(diag.MissingEquation, u.Name.Span, "structure %s has no fit", u.Name.Text).Hint("write fit W : prediction → target")
		return false
	}
	e.many, e.several = n > 1, len(e.fits) > 1
	for _, f := range e.fits {
		ok = ok && e.prepare(f)
	}
	return ok && !e.ring()
}

// declaredWeights are the names that a structure declares as weights.
func declaredWeights(u *notation.Unit) map[string]bool {
	out := map[string]bool{}
	for _, st := range u.Body {
		if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == "weight" {
			for _, n := range d.Names {
				out[n.Name.Text] = true
			}
		}
	}
	return out
}

// prepare checks what a line reads at which moment and divides its local names.
func (e *expander) prepare(f *fitting) bool {
	for _, w := range f.With {
		if !strings.HasSuffix(w.Target.Name.Name.Text, "_t") {
			f.locals = append(f.locals, w)
		}
	}
	ok := true
	refuse := func(at notation.Span, text string, args ...any) *diag.Diagnostic {
		ok = false
		return e.in.ds.Errorf(diag.BadFit, at, text, args...)
	}
	for _, i := range indices(f.Fit) {
		if f.has(i.Text) || f.local(i.Text) != nil {
			refuse(i.Span, "the index %s has the name of something in this line", i.Text).Hint("give it another letter")
		}
	}
	fitted := map[string]bool{}
	e.weights(f, f.Fit.Predict, map[string]bool{}, func(id *notation.Ident, w string, timed bool) {
		switch {
		case !f.has(w) && !timed:
			refuse(id.Span, "%s is fitted by another line, and read here without a moment", w).See(e.fitOf(w).Span, "it is fitted here").
				Hint("write %s_{t−1} for its value before the token, %s_t for the one after that line", w, w)
		case f.has(w) && timed:
			refuse(id.Span, "the prediction reads the weight %s, which it fits, at a moment", w).
				Hint("write %s: the prediction is a function of it", w)
		}
		fitted[w] = fitted[w] || !timed
	})
	for _, w := range f.Weights {
		if ok && !fitted[w.Text] {
			refuse(w.Span, "%s is fitted, but the prediction does not read it", w.Text).
				See(f.Fit.Predict.Where(), "the prediction").Hint("let the prediction read %s, without a moment", w.Text)
		}
	}
	value := func(x notation.Expr, what string) {
		e.weights(f, x, map[string]bool{}, func(id *notation.Ident, w string, timed bool) {
			if !timed {
				refuse(id.Span, "%s is a value, and %s in it is a weight without a moment", what, w).Hint("write %s_{t−1}, the value before the token", w)
			}
		})
	}
	value(f.Fit.Target, "the target")
	for _, w := range f.With {
		if f.local(w.Target.Name.Name.Text) == nil {
			value(w.Value, w.Target.Name.Name.Text)
		}
	}
	ok = ok && !e.looping(f, nil)
	if ok {
		e.divide(f)
	}
	return ok
}

// looping refuses a local name that needs itself; way is how it was reached.
func (e *expander) looping(f *fitting, way []*notation.Define) bool {
	from := f.locals
	if len(way) > 0 {
		from = way[len(way)-1:]
	}
	for _, d := range from {
		on, bad := append(slices.Clone(way), d), false
		notation.Inspect(d.Value, func(n any) bool {
			id, ok := n.(*notation.Ident)
			to := (*notation.Define)(nil)
			if ok && !bad {
				to = f.local(id.Name.Text)
			}
			switch {
			case to == nil:
			case slices.Contains(on, to):
				e.in.ds.Errorf(diag.Cycle, id.Span, "%s needs itself", id.Name.Text).See(to.Span, "defined here")
				bad = true
			default:
				bad = e.looping(f, append(on, to))
			}
			return !bad
		})
		if bad {
			return true
		}
	}
	return false
}

// ring refuses lines each of which comes after the other: one cannot read what
// is written only when it has read it.
func (e *expander) ring() bool {
	for i, f := range e.fits {
		for _, g := range e.fits[:i+1] {
			there, back := e.after(f, g), e.after(g, f)
			if there == nil || back == nil {
				continue
			}
			d := e.in.ds.Errorf(diag.Cycle, there.Span, "the line reads what it can write only afterwards")
			if back != there {
				d.See(back.Span, "the other line comes after this one")
			}
			d.Hint("read one of them before the token: _{t−1}")
			return true
		}
	}
	return false
}

// after is where a line reads what another one writes at the same token.
func (e *expander) after(f, g *fitting) *notation.Ident {
	var found *notation.Ident
	look := func(x notation.Expr) {
		notation.Inspect(x, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok && found == nil && id.Time == nil && strings.HasSuffix(id.Name.Text, "_t") && g.has(base(id.Name.Text)) {
				found = id
			}
			return true
		})
	}
	look(f.Fit.Predict)
	look(f.Fit.Target)
	for _, w := range f.With {
		look(w.Value)
	}
	return found
}

// weights visits the weights in one of a line's expressions and in the local
// names that it reads.
func (e *expander) weights(f *fitting, x notation.Expr, seen map[string]bool, visit func(id *notation.Ident, w string, timed bool)) {
	notation.Inspect(x, func(n any) bool {
		id, ok := n.(*notation.Ident)
		if !ok {
			return true
		}
		if w, timed := e.weightAt(id); w != "" {
			visit(id, w, timed)
		}
		if d := f.local(id.Name.Text); d != nil && !seen[id.Name.Text] {
			seen[id.Name.Text] = true
			e.weights(f, d.Value, seen, visit)
		}
		return true
	})
}

// divide replaces weights that are read at a moment by what the law reads, and
// makes equations of the local names with a moment.
func (e *expander) divide(f *fitting) {
	f.predict, f.target = e.seen(f.Fit.Predict, nil), e.seen(f.Fit.Target, nil)
	for i, d := range f.locals {
		f.locals[i] = e.reading(d)
	}
	for _, w := range f.With {
		if f.local(w.Target.Name.Name.Text) != nil {
			continue
		}
		d := *e.reading(w)
		p := &placing{fit: f}
		d.Value = p.put(d.Value, nil)
		d.With = append(slices.Clone(d.With), p.with...)
		f.timed = append(f.timed, &d)
	}
}

// A placing puts expressions in the place of a line's weights and gathers the
// local names that this needs, each under a name of its own.
type placing struct {
	fit  *fitting
	with []*notation.Define
	made map[string]string // local name and places → its name here

	names []string
}

// put is an expression of the line with every weight at its place.
func (p *placing) put(x notation.Expr, at map[string]notation.Expr) notation.Expr {
	return notation.Rewrite(x, func(n notation.Expr) notation.Expr {
		id, ok := n.(*notation.Ident)
		if !ok {
			return nil
		}
		if y := at[id.Name.Text]; y != nil && id.Time == nil {
			return y
		}
		if d := p.fit.local(id.Name.Text); d != nil && id.Time == nil {
			c := *id
			c.Name = notation.Word{Span: id.Name.Span, Text: p.local(d, at)}
			return &c
		}
		return nil
	})
}

// local copies a local name and returns what it is called here.
func (p *placing) local(d *notation.Define, at map[string]notation.Expr) string {
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
	c := *d
	t := *d.Target
	id := *t.Name
	id.Name.Text = name
	t.Name = &id
	c.Target, c.Value, c.With = &t, p.put(d.Value, at), nil
	p.with = append(p.with, &c)
	return name
}
