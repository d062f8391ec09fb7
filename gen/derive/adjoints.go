package derive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// The program of all adjoints of a unit, with the names that its values have on the page. The
// adjoints are derived by reverse mode, the program is simplified, and each named adjoint is
// written as an equation.

// A naming is the name of a value on the page.
type naming struct {
	name     string // on the page, without time
	when     string // "", "t" or "t−1"
	given    bool   // its adjoint comes in from later
	windowed bool   // the step has it at every time step of a window
}

func (n naming) ident(bar bool) *notation.Ident {
	id := &notation.Ident{Name: notation.Word{Text: n.name}, Bar: bar}
	switch n.when {
	case "t":
		id.Name.Text += "_t"
	case "t−1":
		id.Time = &notation.Binary{Op: "−", X: &notation.Ident{Name: notation.Word{Text: "t"}}, Y: numeral(1)}
	}
	return id
}

// A target is a value whose adjoint is printed.
type target struct {
	naming
	val *ir.Value
	bar *ir.Value // nil if it is zero

	more []term // bars of the same series, read another way
}

// step derives the adjoints of one token of a rule. Values that depend on no state, such
// as keys, values and gates, are given.
func (d *Derivation) step(ds *diag.List) bool {
	f := irbuild.Distinct(d.Unit, ds)
	if f == nil {
		return false
	}
	scan := scanOf(f)
	if scan == nil {
		ds.Errorf(diag.NotSupported, d.Unit.Unit.Name.Span, "%s has no state, and so no step", d.Unit.Name)
		return false
	}
	g, m := scan.Body.Clone()
	names := map[*ir.Value]naming{}
	for _, c := range scan.Carry {
		n := d.pageName(c.Param.Name)
		names[m[c.Param]] = naming{name: n, when: "t−1"}
		names[m[c.Next]] = naming{name: n, when: "t", given: true}
	}
	for _, k := range scan.Tokens {
		if k.Window != nil {
			d.windows = append(d.windows, k.Window)
		}
		series, _, _ := strings.Cut(k.Param.Name, ".") // read twice over, it has two names in the program
		names[m[k.Param]] = naming{name: d.pageName(series), when: "t", windowed: k.Window != nil}
	}
	for _, s := range scan.Shared {
		names[m[s.Param]] = naming{name: d.pageName(s.Param.Name)}
	}
	for _, o := range scan.Outs {
		if _, state := names[m[o.Val]]; !state {
			names[m[o.Val]] = naming{name: "y", when: "t", given: true}
		}
	}
	for _, eq := range d.Unit.Eqs {
		if v := valueOf(g, eq); eq.Class == check.Recurrent && v != nil {
			if _, done := names[v]; !done && !overWindows(v, d.windows) {
				names[v] = naming{name: eq.Name, when: "t"}
			}
		}
	}
	return d.adjoints(g, names, nil, ds)
}

func scanOf(f *ir.Func) *ir.Scan {
	for _, in := range f.Body {
		if in.Scan != nil {
			return in.Scan
		}
	}
	return nil
}

// valueOf is the value that has the name of an equation.
func valueOf(g *ir.Func, eq *check.Equation) *ir.Value {
	for _, in := range g.Body {
		for _, v := range in.Defines() {
			if v.Name == ident.ASCII(eq.Name) && in.Eq == eq.ID {
				return v
			}
		}
	}
	return nil
}

// pageName is the page's spelling of a program's name.
func (d *Derivation) pageName(ascii string) string {
	for _, s := range d.Unit.SymSeq {
		if ident.ASCII(s.Name) == ascii {
			return s.Name
		}
	}
	for _, e := range d.Unit.Eqs {
		if ident.ASCII(e.Name) == ascii {
			return e.Name
		}
	}
	return ascii
}

// operation derives the adjoints of an operation's operands.
func (d *Derivation) operation(ds *diag.List) bool {
	f := irbuild.Op(d.Unit, ds)
	if f == nil {
		return false
	}
	g, _ := f.Clone()
	names := map[*ir.Value]naming{}
	for _, p := range g.Params {
		names[p] = naming{name: d.pageName(p.Name)}
	}
	names[g.Results[0].Val] = naming{name: "out", given: true}
	return d.adjoints(g, names, batchAxisOf(d.Unit, g), ds)
}

// batchAxisOf is the batch axis, which no equation shows.
func batchAxisOf(b *check.Block, g *ir.Func) *ir.Axis {
	for _, a := range g.Axes {
		if a.Name == ident.ASCII(b.Axes["L"].Name) {
			return a
		}
	}
	return nil
}

// adjoints adds the adjoints of all named values to a program, simplifies it, and writes
// them, those nearest to the result first.
func (d *Derivation) adjoints(g *ir.Func, names map[*ir.Value]naming, batch *ir.Axis, ds *diag.List) bool {
	seeds := map[*ir.Value]*ir.Value{}
	var order []*ir.Value
	for _, in := range g.Body {
		for _, v := range in.Defines() {
			if _, named := names[v]; named {
				order = append(order, v)
			}
		}
	}
	slices.Reverse(order)
	order = append(order, g.Params...)
	var targets []*target
	var wrt []*ir.Value
	g.Results = nil
	for _, v := range order {
		n, ok := names[v]
		if !ok || v.Elem != ir.Real || v.NoGrad || v.Role == ir.Constant {
			continue
		}
		targets = append(targets, &target{naming: n, val: v})
		wrt = append(wrt, v)
		if n.given {
			seeds[v] = g.AddParam(ir.AdjointName(ident.ASCII(n.name)), ir.Adjoint, ir.Real, v.Axes...)
		}
	}
	d.seedParts(g, seeds)
	adj := autodiff.Reverse(&ir.Builder{F: g}, seeds, wrt)
	for _, t := range targets {
		g.Results = append(g.Results, ir.Result{Name: "value", Val: t.val}, ir.Result{Name: "adjoint", Val: adj[t.val]})
		if adj[t.val] == nil {
			g.Results[len(g.Results)-1].Val = t.val
		}
	}
	simplify.Simplify(g)
	for i, t := range targets {
		if adj[t.val] != nil {
			t.bar = g.Results[2*i+1].Val
		}
		t.val = g.Results[2*i].Val
	}
	return d.print(g, names, targets, batch, ds)
}

// print writes the targets as equations.
func (d *Derivation) print(g *ir.Func, old map[*ir.Value]naming, targets []*target, batch *ir.Axis, ds *diag.List) bool {
	w := newWriter(d.Unit, g, batch)
	w.hideWindows(d.windows)
	for _, p := range g.Params {
		if n, ok := old[p]; ok {
			w.nameSeries(p, n, false)
		}
	}
	for _, t := range targets {
		w.nameSeries(t.val, t.naming, false)
	}
	for v, x := range d.partAdjoints {
		w.name(v, x)
	}
	for _, t := range targets {
		if t.given {
			d.Given = append(d.Given, t.ident(true))
			w.nameSeries(t.bar, t.naming, true)
		}
	}
	for _, t := range mergeSeries(targets) {
		e, ok := d.equation(w, t, ds)
		if !ok {
			return false
		}
		if e != nil {
			d.Adjoints = append(d.Adjoints, *e)
		}
	}
	return true
}

// equation writes one adjoint. A given adjoint is the sum of the contributions of later
// tokens and of the step; only the latter are written.
func (d *Derivation) equation(w *writer, t *target, ds *diag.List) (*Equation, bool) {
	left := t.ident(true)
	if t.bar == nil {
		return nil, true
	}
	if w.hasWindow(t.bar) && !t.windowed {
		return nil, d.refused(left, fmt.Errorf("an array over the time steps of a window"), ds)
	}
	if t.given {
		more := w.ownShare(t.bar)
		if len(more) == 0 {
			return nil, true
		}
		value, with, err := w.writeSum(more)
		if err != nil {
			return nil, d.refused(left, err, ds)
		}
		return &Equation{Left: left, Right: value, With: with, Partial: true}, true
	}
	if len(t.more) > 0 {
		value, with, err := w.writeSum(append(t.more, term{1, t.bar}))
		if err != nil {
			return nil, d.refused(left, err, ds)
		}
		return &Equation{Left: left, Right: value, With: with, Wide: true}, true
	}
	value, with, err := w.write(t.bar)
	if err != nil {
		return nil, d.refused(left, err, ds)
	}
	w.nameSeries(t.bar, t.naming, true)
	of := d.Unit.Symbols[t.name]
	unnamed := of != nil && of.Kind == check.Anchor && of.Name == notation.At(of.Of, "_0") // M_0: no claim can name its adjoint
	shared := t.when == "" && d.Unit.Unit.Kind == notation.RuleUnit && (d.Unit.Equation(t.name) != nil || unnamed)
	return &Equation{Left: left, Right: value, With: with, Shared: shared, Parts: d.readsParts(left, value, with), Wide: t.windowed}, true
}

// refused reports that an adjoint has no form in the notation.
func (d *Derivation) refused(left notation.Expr, err error, ds *diag.List) bool {
	ds.Errorf(diag.NotSupported, d.Unit.Unit.Name.Span, "%s of %s has no form in the notation: %v", notation.Print(left, notation.Unicode), d.Unit.Name, err)
	return false
}

// gradients prints the inner gradients of the block's equations and of the
// functions that these call.
func (d *Derivation) gradients(ds *diag.List) bool {
	before := ds.Len()
	seen := map[string]bool{}
	for _, gr := range irbuild.Gradients(d.Unit, ds) {
		key := notation.Print(gr.At, notation.Unicode)
		if seen[key] {
			continue
		}
		seen[key] = true
		if e, ok := d.gradient(gr.At); ok {
			d.Gradients = append(d.Gradients, e)
		}
	}
	return ds.Len() == before || !ds.HasErrors()
}

// gradient writes one inner gradient at the values of its arguments: in an equation those
// of the step, in a function its parameters.
func (d *Derivation) gradient(at *notation.Grad) (Equation, bool) {
	var quiet diag.List
	q := irbuild.Claim(d.Unit, &notation.Claim{Span: at.Span, Left: at, Right: numeral(0)}, &quiet)
	if q == nil || quiet.HasErrors() {
		return Equation{}, false
	}
	g, _ := q.Func.Clone()
	g.Results = slices.DeleteFunc(g.Results, func(r ir.Result) bool { return r.Name != irbuild.Left })
	simplify.Simplify(g)
	w := newWriter(d.Unit, g, nil)
	for _, p := range g.Params {
		x, ds := parser.ParseExpr(nil, q.Free[p.Name].Text)
		if ds.HasErrors() {
			return Equation{}, false
		}
		w.name(p, x)
	}
	value, with, err := w.write(g.Results[0].Val)
	if err != nil {
		return Equation{}, false
	}
	return Equation{Left: at, Right: value, With: with}, true
}
