package vjpcheck

import (
	"errors"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// An entry under one guess of its shapes, as programs.

// A model is an entry under one guess of its shapes, built.
type model struct {
	*table
	e        *entry
	types    map[string]typ    // of inputs, of steps and of the result
	ranges   map[string]extent // of integer inputs: where they may point
	least    map[string]int    // sizes that axes have at least
	positive map[string]bool   // inputs that are sampled right of zero
	fwd      *program
	checks   []*program
	values   map[string]*program // of the steps
	ofStep   map[string]*program // the forward as a function of a step
	lines    []*builtLine
}

// A builtLine is a printed line with its program, or with its error.
type builtLine struct {
	*line
	prog *program
	err  error
}

// build builds an entry under a guess of its shapes; a misfit error means that the forward
// does not fit them.
func (t *table) build(e *entry, r shapeGuess) (*model, error) {
	m := &model{table: t, e: e, types: e.inputs(r), positive: t.positives(e), ranges: map[string]extent{}, least: map[string]int{}, values: map[string]*program{}, ofStep: map[string]*program{}}
	for _, n := range []string{resultName, "d_" + resultName} {
		if _, ok := m.types[n]; ok {
			return nil, pseudo.Gapf("the forward reads %s, which it is to give", n)
		}
	}
	inputs := maps.Clone(m.types)
	ty := m.typer(inputs, e.steps)
	out, err := ty.definitionType(e.out)
	if err != nil {
		return nil, err
	}
	if want, ok := e.shapes[resultName]; ok && !slices.Equal(want, out.axes) {
		return nil, pseudo.Misfitf("the result is %s, not %s", out, typ{real, want})
	}
	if e.scalar && len(out.axes) > 0 {
		return nil, pseudo.Misfitf("the result is %s, not a number", out)
	}
	out.elem = real
	if m.fwd, err = m.value(inputs, e.steps, e.out); err != nil {
		return nil, err
	}
	for _, c := range e.checks {
		d := &definition{letters: e.out.letters, body: c}
		if x, err := ty.definitionType(d); err != nil {
			return nil, err
		} else if !slices.Equal(x.axes, out.axes) {
			return nil, pseudo.Misfitf("one form of the result is %s, another %s", out, x)
		}
		p, err := m.value(inputs, e.steps, d)
		if err != nil {
			return nil, err
		}
		m.checks = append(m.checks, p)
	}
	if err := m.steps(inputs); err != nil {
		return nil, err
	}
	m.types[resultName], m.types["d_"+resultName] = out, out
	for _, l := range e.lines {
		m.lines = append(m.lines, m.line(l))
	}
	return m, nil
}

func (m *model) typer(params map[string]typ, defs map[string]*definition) *typer {
	return &typer{table: m.table, e: m.e, params: params, defs: defs, bound: map[string]letter{}, ranges: m.ranges, least: m.least}
}

// value builds a definition as a program of its parameters.
func (m *model) value(params map[string]typ, defs map[string]*definition, d *definition) (*program, error) {
	em := &emitter{m.typer(params, defs), newOperation()}
	x, err := em.definitionType(d)
	if err != nil {
		return nil, err
	}
	bs, at := em.binders(x.axes)
	bound := map[string]letter{}
	for i, l := range d.letters {
		bound[l] = letter{axis: x.axes[i], at: at[i]}
	}
	body, err := em.inScope(bound).entry(d.body, at[len(d.letters):])
	if err != nil {
		return nil, err
	}
	return em.assemble(bs, body)
}

// steps builds, for every intermediate value whose adjoint a line defines or reads, its
// value and the forward as a function of it.
func (m *model) steps(inputs map[string]typ) error {
	for _, n := range slices.Sorted(keys(m.e.steps)) {
		d := m.e.steps[n]
		x, err := m.typer(inputs, m.e.steps).definitionType(d)
		if err != nil {
			return err
		}
		m.types[n] = x
		if !m.e.hasAdjoint(n) {
			continue
		}
		if m.values[n], err = m.value(inputs, m.e.steps, d); err != nil {
			return err
		}
		params, defs := maps.Clone(inputs), maps.Clone(m.e.steps)
		params[n] = x
		delete(defs, n)
		if m.ofStep[n], err = m.value(params, defs, m.e.out); err != nil {
			return err
		}
	}
	return nil
}

// programOf is the program whose adjoint a line defines.
func (m *model) programOf(of string) *program {
	if c := m.ofStep[of]; c != nil {
		return c
	}
	return m.fwd
}

// line builds a printed line.
func (m *model) line(l *line) *builtLine {
	p := &builtLine{line: l, err: l.err}
	if p.err != nil {
		return p
	}
	want, ok := m.types[l.of]
	if !ok || want.elem != real || m.e.steps[l.of] == nil && m.fwd.idents[l.of] == "" {
		p.err = pseudo.Gapf("the forward does not read %s", l.of)
		return p
	}
	params := maps.Clone(m.types)
	for n, x := range m.types {
		if m.e.hasAdjoint(n) {
			params["d_"+n] = x
		}
	}
	defs := maps.Clone(m.e.lets)
	for n, d := range m.e.steps {
		defs[n] = d
		delete(params, n)
	}
	em := &emitter{m.typer(params, defs), newOperation()}
	p.prog, p.err = em.lineProgram(l, want)
	return p
}

// lineProgram builds a line. Its indices are those of the value whose adjoint it defines,
// and the remaining axes are the type of its right-hand side.
func (t *emitter) lineProgram(l *line, want typ) (*program, error) {
	if len(l.at) > len(want.axes) {
		return nil, pseudo.Misfitf("%s has %d indices, but is %s", l.label, len(l.at), want)
	}
	bs, at := t.binders(want.axes)
	bound, rest, span, err := t.target(l, want, at)
	if err != nil {
		return nil, err
	}
	in := t.inScope(bound)
	var over *addedIndex
	switch {
	case span != nil && l.each != "":
		err = pseudo.Gapf("a range and a condition on one line")
	case span != nil:
		if over, err = in.window(span, at[0]); err == nil {
			at[0], rest = over.at, append([]string{over.axis}, rest...)
		}
	case l.each != "":
		in, over, err = in.scatter(l)
	}
	if err != nil {
		return nil, err
	}
	x, err := in.typeOf(l.rhs)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(x.axes, rest) {
		return nil, pseudo.Misfitf("%s is %s, but the right side is %s", l.label, typ{real, rest}, x)
	}
	body, err := in.entry(l.rhs, at[len(want.axes)-len(rest):])
	if err != nil {
		return nil, err
	}
	if over != nil {
		over.binder.Cond = over.cond
		body = &notation.Reduce{Op: "Σ", Binders: []*notation.Binder{over.binder}, Body: body}
	}
	return t.assemble(bs, body)
}

// An addedIndex is the index of a line that adds into its left-hand side: an entry is the
// sum of the right-hand side over the indices at which the condition holds.
type addedIndex struct {
	axis   string
	binder *notation.Binder
	at     notation.Expr
	cond   notation.Expr
}

// window is the index of a range on the left: entry j receives the right-hand side at i
// where j − i is the start of the range.
func (t *emitter) window(span *pseudo.Node, entry notation.Expr) (*addedIndex, error) {
	axis, err := spanLength(span)
	if err != nil {
		return nil, err
	}
	bs, i := t.binders([]string{axis})
	lo, err := t.entry(span.Kids[0], nil)
	return &addedIndex{axis, bs[0], i[0], &notation.Relation{Op: "=", X: op("−", entry, i[0]), Y: lo}}, err
}

// target binds the letters on a line's left-hand side and returns the other axes, and a
// range.
func (t *emitter) target(l *line, want typ, at []notation.Expr) (bound map[string]letter, rest []string, rng *pseudo.Node, err error) {
	bound = map[string]letter{}
	for i, k := range l.at {
		switch {
		case k.Kind == pseudo.Name && bound[k.Text].axis == "":
			bound[k.Text] = letter{axis: want.axes[i], at: at[i]}
		case k.Kind == pseudo.Span && i == 0 && len(l.at) == 1:
			rng = k
		default:
			return nil, nil, nil, pseudo.Gapf("the index on the left is no letter")
		}
	}
	return bound, want.axes[len(l.at):], rng, nil
}

// scatter binds the letter of `for each t where …`.
func (t *emitter) scatter(l *line) (*emitter, *addedIndex, error) {
	both := &pseudo.Node{Kind: pseudo.Relation, Text: "==", Kids: []*pseudo.Node{l.rhs, l.where}}
	axis, err := t.axisOf(l.each, both)
	if err != nil {
		return nil, nil, err
	}
	bs, at := t.binders([]string{axis})
	in := t.inScope(map[string]letter{l.each: {axis: axis, at: at[0]}})
	x, err := in.typeOf(l.where)
	if err != nil {
		return nil, nil, err
	}
	if x.elem != boolean || len(x.axes) > 0 {
		return nil, nil, pseudo.Gapf("the condition is no comparison of numbers")
	}
	c, err := in.entry(l.where, nil)
	return in, &addedIndex{axis, bs[0], at[0], c}, err
}

func isMisfit(err error) bool {
	var m *pseudo.Misfit
	return errors.As(err, &m)
}
