package vjpcheck

import (
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

// build builds an entry under a guess of its shapes; it panics as typeOf does, with a
// misfit where the forward does not fit them.
func (t *table) build(e *entry, r shapeGuess) *model {
	m := &model{table: t, e: e, types: e.inputs(r), positive: t.positives(e), ranges: map[string]extent{}, least: map[string]int{}, values: map[string]*program{}, ofStep: map[string]*program{}}
	for _, n := range []string{resultName, "d_" + resultName} {
		if _, ok := m.types[n]; ok {
			panic(pseudo.Gapf("the forward reads %s, which it is to give", n))
		}
	}
	inputs := maps.Clone(m.types)
	ty := m.translator(inputs, e.steps)
	out := ty.definition(e.out).typ
	if want, ok := e.shapes[resultName]; ok && !slices.Equal(want, out.axes) {
		panic(pseudo.Misfitf("the result is %s, not %s", out, typ{real, want}))
	}
	if e.scalar && len(out.axes) > 0 {
		panic(pseudo.Misfitf("the result is %s, not a number", out))
	}
	out.elem = real
	m.fwd = m.value(inputs, e.steps, e.out)
	for _, c := range e.checks {
		d := &definition{letters: e.out.letters, body: c}
		if x := ty.definition(d); !slices.Equal(x.axes, out.axes) {
			panic(pseudo.Misfitf("one form of the result is %s, another %s", out, x))
		}
		m.checks = append(m.checks, m.value(inputs, e.steps, d))
	}
	m.steps(inputs)
	m.types[resultName], m.types["d_"+resultName] = out, out
	for _, l := range e.lines {
		m.lines = append(m.lines, m.line(l))
	}
	return m
}

func (m *model) translator(params map[string]typ, defs map[string]*definition) *translator {
	return &translator{table: m.table, e: m.e, params: params, defs: defs, bound: map[string]letter{}, ranges: m.ranges, least: m.least, operation: newOperation()}
}

// value builds a definition as a program of its parameters.
func (m *model) value(params map[string]typ, defs map[string]*definition, d *definition) *program {
	t := m.translator(params, defs)
	x := t.definition(d)
	bs, at := t.binders(x.axes)
	return t.assemble(bs, x.at(at))
}

// steps builds, for every intermediate value whose adjoint a line defines or reads, its
// value and the forward as a function of it.
func (m *model) steps(inputs map[string]typ) {
	for _, n := range slices.Sorted(keys(m.e.steps)) {
		d := m.e.steps[n]
		x := m.translator(inputs, m.e.steps).definition(d).typ
		m.types[n] = x
		if !m.e.hasAdjoint(n) {
			continue
		}
		m.values[n] = m.value(inputs, m.e.steps, d)
		params, defs := maps.Clone(inputs), maps.Clone(m.e.steps)
		params[n] = x
		delete(defs, n)
		m.ofStep[n] = m.value(params, defs, m.e.out)
	}
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
	prog, err := attempt(func() *program { return m.lineProgram(l) })
	return &builtLine{line: l, prog: prog, err: err}
}

func (m *model) lineProgram(l *line) *program {
	if l.err != nil {
		panic(l.err)
	}
	want, ok := m.types[l.of]
	if !ok || want.elem != real || m.e.steps[l.of] == nil && m.fwd.idents[l.of] == "" {
		panic(pseudo.Gapf("the forward does not read %s", l.of))
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
	return m.translator(params, defs).lineProgram(l, want)
}

// lineProgram builds a line. Its indices are those of the value whose adjoint it defines,
// and the remaining axes are the type of its right-hand side.
func (t *translator) lineProgram(l *line, want typ) *program {
	if len(l.at) > len(want.axes) {
		panic(pseudo.Misfitf("%s has %d indices, but is %s", l.label, len(l.at), want))
	}
	bs, at := t.binders(want.axes)
	bound, rest, span := t.target(l, want, at)
	in := t.inScope(bound)
	var over *addedIndex
	switch {
	case span != nil && l.each != "":
		panic(pseudo.Gapf("a range and a condition on one line"))
	case span != nil:
		over = in.window(span, at[0])
		at[0], rest = over.at, append([]string{over.axis}, rest...)
	case l.each != "":
		in, over = in.scatter(l)
	}
	x := in.array(l.rhs)
	if !slices.Equal(x.axes, rest) {
		panic(pseudo.Misfitf("%s is %s, but the right side is %s", l.label, typ{real, rest}, x))
	}
	body := x.at(at[len(want.axes)-len(rest):])
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
func (t *translator) window(span *pseudo.Node, entry notation.Expr) *addedIndex {
	axis := spanLength(span)
	bs, i := t.binders([]string{axis})
	lo := t.array(span.Kids[0]).at(nil)
	return &addedIndex{axis, bs[0], i[0], &notation.Relation{Op: "=", X: op("−", entry, i[0]), Y: lo}}
}

// target binds the letters on a line's left-hand side and returns the other axes, and a
// range.
func (t *translator) target(l *line, want typ, at []notation.Expr) (bound map[string]letter, rest []string, rng *pseudo.Node) {
	bound = map[string]letter{}
	for i, k := range l.at {
		switch {
		case k.Kind == pseudo.Name && bound[k.Text].axis == "":
			bound[k.Text] = letter{axis: want.axes[i], at: at[i]}
		case k.Kind == pseudo.Span && i == 0 && len(l.at) == 1:
			rng = k
		default:
			panic(pseudo.Gapf("the index on the left is no letter"))
		}
	}
	return bound, want.axes[len(l.at):], rng
}

// scatter binds the letter of `for each t where …`.
func (t *translator) scatter(l *line) (*translator, *addedIndex) {
	both := &pseudo.Node{Kind: pseudo.Relation, Text: "==", Kids: []*pseudo.Node{l.rhs, l.where}}
	axis := t.axisOf(l.each, both)
	bs, at := t.binders([]string{axis})
	in := t.inScope(map[string]letter{l.each: {axis: axis, at: at[0]}})
	x := in.array(l.where)
	if x.elem != boolean || len(x.axes) > 0 {
		panic(pseudo.Gapf("the condition is no comparison of numbers"))
	}
	return in, &addedIndex{axis, bs[0], at[0], x.at(nil)}
}

// attempt calls f and returns the *pseudo.Error that it panics with.
func attempt[T any](f func() T) (x T, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *pseudo.Error:
			err = e
		default:
			panic(e)
		}
	}()
	return f(), nil
}

func isMisfit(err error) bool {
	e, ok := err.(*pseudo.Error)
	return ok && e.Misfit
}
