package vjpcheck

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Calls: what the name of a call refers to, and its translation.

// A callee is the meaning of the name of a call: a definition of the page, a function of
// the tree, the adjoint of another entry, or the inner product, which is a sign of the
// pseudo-language.
type callee struct {
	def   *definition
	word  *callable
	vjp   *definition // of vectors: d_out and out to the adjoint of one row
	inner bool
}

// innerProduct is how the pseudo-language spells a · b.
const innerProduct = "dot"

func (t *translator) callee(n *pseudo.Node) callee {
	text, plain := strings.CutPrefix(n.Text, outsideMeaning)
	if d := t.e.funcs[text]; d != nil && !plain && len(d.params) == len(n.Kids) {
		return callee{def: d}
	}
	if d := t.funcs[text]; d != nil && len(d.params) == len(n.Kids) {
		return callee{def: d}
	}
	if text == innerProduct && len(n.Kids) == 2 {
		return callee{inner: true}
	}
	if f := t.functions.find(text, len(n.Kids)); f != nil {
		return callee{word: f}
	}
	if of, ok := strings.CutSuffix(text, "_vjp"); ok && len(n.Kids) == 2 {
		if d := t.rowAdjoint(of); d != nil {
			return callee{vjp: d}
		}
	}
	panic(pseudo.Gapf("the function %s is not defined", text))
}

// rowAdjoint is the adjoint line of another entry of the page as a function of d_out and
// out, if it reads nothing else.
func (t *translator) rowAdjoint(of string) *definition {
	for _, e := range t.entries {
		if foldName(e.name) != foldName(of) || len(e.lines) == 0 {
			continue
		}
		l := e.lines[0]
		letters, ok := plainNames(l.at)
		if l.err != nil || !ok || len(letters) != 1 {
			return nil
		}
		bound := e.letterNames()
		if l.rhs.Contains(func(n *pseudo.Node) bool {
			return n.Kind == pseudo.Name && !bound[n.Text] && n.Text != resultName && n.Text != "d_"+resultName
		}) {
			return nil
		}
		return &definition{name: of, letters: letters, params: []string{"d_" + resultName, resultName}, body: l.rhs}
	}
	return nil
}

func (t *translator) call(n *pseudo.Node) array {
	c := t.callee(n)
	if c.def != nil {
		return t.inScope(nil).array(substituted(c.def, n.Kids))
	}
	var args []array
	for _, k := range n.Kids {
		args = append(args, t.array(k))
	}
	switch {
	case c.inner:
		x, y := args[0], args[1]
		if len(x.axes) != 1 || !slices.Equal(x.axes, y.axes) {
			panic(pseudo.Misfitf("an inner product of %s and %s", x, y))
		}
		return array{typ{elem: real}, func([]notation.Expr) notation.Expr {
			bs, at := t.binders(x.axes)
			return &notation.Reduce{Op: "Σ", Binders: bs, Body: mul(x.at(at), y.at(at))}
		}}
	case c.vjp != nil:
		if len(args[0].axes) == 0 || !slices.Equal(args[0].axes, args[1].axes) {
			panic(pseudo.Misfitf("an adjoint of rows of %s and %s", args[0], args[1]))
		}
		return array{args[0].typ, func(idx []notation.Expr) notation.Expr { return t.vjpEntry(c.vjp, n, args[0].axes, idx) }}
	case c.word.scalar:
		return array{broadcastType(args...), func(idx []notation.Expr) notation.Expr {
			x := &notation.Call{Fun: wordOf(c.word.call)}
			for _, a := range args {
				x.Args = append(x.Args, a.broadcast(idx))
			}
			return x
		}}
	}
	return t.wordCall(c.word, args)
}

func substituted(d *definition, args []*pseudo.Node) *pseudo.Node {
	by := map[string]*pseudo.Node{}
	for i, p := range d.params {
		by[p] = args[i]
	}
	return d.body.Substitute(by)
}

// alignAxes aligns the axes of an argument with those of a parameter at the end: the
// function is mapped over the first lead axes of the argument, and the first pad axes of
// the parameter are missing in the argument and have size one.
func alignAxes(param []string, x typ) (lead, pad int) {
	n := len(x.axes) - len(param)
	return max(n, 0), max(-n, 0)
}

// wordCall calls a function of arrays on an array that is defined for it.
func (t *translator) wordCall(w *callable, args []array) array {
	if len(args) != 1 || len(args[0].axes) == 0 {
		panic(pseudo.Misfitf("%s of %s", w.call, args[0]))
	}
	x := args[0]
	lead, pad := alignAxes(w.params[0], x.typ)
	out := typ{real, slices.Clone(x.axes[:lead])}
	for _, a := range w.result {
		if i := slices.Index(w.params[0], a); i >= pad {
			out.axes = append(out.axes, x.axes[lead+i-pad])
		}
	}
	return array{out, func(idx []notation.Expr) notation.Expr {
		bs, at := t.binders(x.axes[lead:])
		body := x.at(slices.Concat(idx[:lead], at))
		var ones []*notation.Binder
		for range pad {
			ones = append(ones, &notation.Binder{Name: wordOf(t.fresh("o")), Range: numeral(1)})
		}
		array := t.define(append(ones, bs...), body)
		out := &notation.Index{X: &notation.Call{Fun: wordOf(w.call), Args: []notation.Expr{nameNode(array)}}}
		next := lead
		for _, a := range w.result {
			if slices.Index(w.params[0], a) < pad {
				out.At = append(out.At, numeral(0))
				continue
			}
			out.At = append(out.At, idx[next])
			next++
		}
		if len(out.At) == 0 {
			return out.X
		}
		return out
	}}
}

// vjpEntry writes another entry's adjoint for the row that idx names.
func (t *translator) vjpEntry(d *definition, n *pseudo.Node, axes []string, idx []notation.Expr) notation.Expr {
	last := len(idx) - 1
	bound := map[string]letter{}
	var at []*pseudo.Node
	for i, axis := range axes[:last] {
		l := t.fresh("row")
		bound[l] = letter{axis: axis, at: idx[i]}
		at = append(at, pseudo.NameOf(l))
	}
	bound[d.letters[0]] = letter{axis: axes[last], at: idx[last]}
	body := d.body.Rewrite(func(m *pseudo.Node) *pseudo.Node {
		for i, p := range d.params {
			if m.Kind == pseudo.Index && m.Kids[0].Kind == pseudo.Name && m.Kids[0].Text == p {
				return pseudo.IndexOf(n.Kids[i], append(slices.Clone(at), m.Kids[1:]...)...)
			}
		}
		return nil
	})
	return t.inScope(bound).array(body).at(nil)
}
