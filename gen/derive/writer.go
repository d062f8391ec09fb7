package derive

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/shape"
)

// The writer of one equation: names, letters for indices and local definitions, and sizes.

// A writer turns values of a program into expressions. A value with a name on the page is
// written as that name; one that is read several times, or has no form as an array,
// becomes a local definition of the equation.
type writer struct {
	blk   *check.Block
	f     *ir.Func
	batch *ir.Axis
	names map[*ir.Value]notation.Expr
	windowState
	taken map[string]bool

	// of the equation that is being written
	uses   map[*ir.Value]int
	locals map[*ir.Value]string
	with   []*notation.Define
	letter int
	fresh  int
	depth  int
	pairs  pairing
}

func newWriter(b *check.Block, f *ir.Func, batch *ir.Axis) *writer {
	w := &writer{blk: b, f: f, batch: batch, names: map[*ir.Value]notation.Expr{}, windowState: windowState{series: map[*ir.Value]naming{}, bars: map[*ir.Value]bool{}}, taken: map[string]bool{"t": true, "T": true, "O": true}}
	take(w.taken, b.Symbols)
	take(w.taken, b.Options)
	take(w.taken, b.Axes)
	take(w.taken, b.Funcs)
	return w
}

// take reserves the names of a block.
func take[V any](taken map[string]bool, m map[string]V) {
	for n := range m {
		taken[n] = true
	}
}

// name gives a value its name on the page; the first name is kept.
func (w *writer) name(v *ir.Value, x notation.Expr) {
	if v != nil && w.names[v] == nil {
		w.names[v] = x
	}
}

// write writes the value of an equation.
func (w *writer) write(v *ir.Value) (notation.Expr, []*notation.Define, error) {
	return w.equation([]*ir.Value{v}, func() notation.Expr { return w.array(v) })
}

// writeSum writes a sum of arrays.
func (w *writer) writeSum(ts []term) (notation.Expr, []*notation.Define, error) {
	var vals []*ir.Value
	for _, t := range ts {
		vals = append(vals, t.val)
	}
	return w.equation(vals, func() notation.Expr { return w.addends(ts, 0) })
}

// equation writes an equation of values with its local definitions: with plain
// indices if it can, else with pairs of indices.
func (w *writer) equation(vals []*ir.Value, write func() notation.Expr) (notation.Expr, []*notation.Define, error) {
	defer func() { w.pairs = noPairs }()
	for ; ; w.pairs++ {
		w.begin(vals...)
		if x, err := attempt(write); err == nil || w.pairs == allPairs {
			return x, w.with, err
		}
	}
}

// begin starts an equation: it counts how often each value is read.
func (w *writer) begin(vals ...*ir.Value) {
	w.uses, w.locals, w.with, w.letter, w.fresh, w.depth = map[*ir.Value]int{}, map[*ir.Value]string{}, nil, 0, 0, 0
	done := map[*ir.Value]bool{}
	var count func(v *ir.Value)
	count = func(v *ir.Value) {
		if w.names[v] != nil || w.series[v].name != "" || done[v] || v.Def == nil {
			return
		}
		done[v] = true
		for _, x := range v.Def.Reads() {
			w.uses[x]++
			count(x)
		}
	}
	for _, v := range vals {
		count(v)
	}
}

// ownShare is the summands of a complete adjoint without the given ones.
func (w *writer) ownShare(v *ir.Value) []term {
	if v.Def == nil || v.Def.Op != ir.Lin {
		return nil
	}
	var out []term
	for i, a := range v.Def.Args {
		if a.Val.Role == ir.Adjoint && a.Val.Def == nil {
			continue
		}
		out = append(out, term{v.Def.Coef[i], a.Val})
	}
	return out
}

// letters for indices and for local values, in the order in which they are
// tried; the page's own names are left out.
var (
	indexLetters = strings.Fields("i j l r s h o q")
	localLetters = strings.Fields("a b c e g p u w z")
)

func (w *writer) freeLetter(letters []string, next *int) string {
	for {
		n := letters[*next%len(letters)]
		if k := *next / len(letters); k > 0 {
			n += strconv.Itoa(k)
		}
		*next++
		if !w.taken[n] {
			return n
		}
	}
}

// binder makes an index over an axis.
func (w *writer) binder(a *ir.Axis) (*notation.Binder, notation.Expr) {
	if two := w.factors(a); w.pairs > noPairs && two != nil {
		bs, at := w.pairIndex(two)
		return &notation.Binder{Tuple: bs}, at
	}
	return w.singleIndex(a)
}

// singleIndex makes a single index over an axis.
func (w *writer) singleIndex(a *ir.Axis) (*notation.Binder, notation.Expr) {
	r := w.size(a.Size, a.Name)
	n := w.freeLetter(indexLetters, &w.letter)
	return &notation.Binder{Name: notation.Word{Text: n}, Range: r}, identifier(n)
}

// size writes an axis or its size: a name of the page, or a polynomial in names.
func (w *writer) size(p shape.Poly, name string) notation.Expr {
	for _, a := range w.blk.AxisSeq {
		if ident.ASCII(a.Name) == name && a.Size.Equal(p) {
			return identifier(a.Name)
		}
	}
	for _, a := range w.blk.AxisSeq {
		if a.Size.Rename(ident.ASCII).Equal(p) && !a.Free {
			return identifier(a.Name)
		}
	}
	if n, ok := p.Const(); ok {
		return numeral(float64(n))
	}
	text := strings.NewReplacer("*", "·", "-", "−").Replace(p.String())
	x, ds := parser.ParseExpr(nil, text)
	if ds.HasErrors() {
		panic(noForm("the size %s", text))
	}
	ok := true
	notation.Inspect(x, func(n any) bool {
		if id, is := n.(*notation.Ident); is {
			ok = ok && w.axisName(id)
		}
		return true
	})
	if !ok {
		panic(noForm("the size %s", text))
	}
	return x
}

// axisName replaces the program's name of a size by the page's.
func (w *writer) axisName(id *notation.Ident) bool {
	for _, a := range w.blk.AxisSeq {
		if a.Name == id.Name.Text || ident.ASCII(a.Name) == id.Name.Text {
			id.Name.Text = a.Name
			return true
		}
	}
	return false
}

// axes are the visible axes of a value.
func (w *writer) axes(v *ir.Value) []*ir.Axis {
	return slices.DeleteFunc(slices.Clone(v.Axes), w.hidden)
}

// hidden reports whether an axis is the batch or a window.
func (w *writer) hidden(a *ir.Axis) bool { return a == w.batch || slices.Contains(w.windows, a) }

// subs are the subscripts of a read at visible axes.
func (w *writer) subs(a ir.Arg) []ir.Sub {
	var out []ir.Sub
	for i, s := range a.Sub {
		if !w.hidden(a.Val.Axes[i]) {
			out = append(out, s)
		}
	}
	return out
}

// local defines a value as a name of the equation.
func (w *writer) local(v *ir.Value) notation.Expr {
	if n := w.locals[v]; n != "" {
		return identifier(n)
	}
	if w.hasWindow(v) {
		panic(noForm("a value of every time step of a window, which a local definition cannot be"))
	}
	d := w.definition(v)
	n := w.freeLetter(localLetters, &w.fresh)
	d.Target.Name = identifier(n)
	w.locals[v] = n
	w.with = append(w.with, d)
	return identifier(n)
}

// definition writes a value with its indices on the left, or without indices where it has
// a form as an array.
func (w *writer) definition(v *ir.Value) *notation.Define {
	d := &notation.Define{Target: &notation.Target{}}
	if d.Value = w.tryForm(v); d.Value != nil {
		return d
	}
	var at []notation.Expr
	for _, a := range w.axes(v) {
		b, i := w.binder(a)
		d.Target.Index, at = append(d.Target.Index, b), append(at, i)
	}
	d.Value = w.expand(v, at)
	return d
}

// array writes a value as an array.
func (w *writer) array(v *ir.Value) notation.Expr {
	if x := w.pageName(v); x != nil {
		return x
	}
	if n := w.locals[v]; n != "" {
		return identifier(n)
	}
	if v.Def == nil {
		panic(noForm("%s has no name on the page", v.Name))
	}
	if w.depth++; w.depth > 100 {
		panic(noForm("it nests too deep"))
	}
	defer func() { w.depth-- }()
	if w.uses[v] > 1 && !cheap(v) && !w.hasWindow(v) {
		return w.local(v)
	}
	if x := w.tryForm(v); x != nil {
		return x
	}
	return w.local(v)
}

// tryForm writes a value as an array without indices. Where it has no such form, tryForm
// removes the definitions of the attempt and returns nil.
func (w *writer) tryForm(v *ir.Value) notation.Expr {
	with, letter, fresh := len(w.with), w.letter, w.fresh
	x, err := attempt(func() notation.Expr { return w.form(v) })
	if err == nil {
		return x
	}
	for _, d := range w.with[with:] {
		maps.DeleteFunc(w.locals, func(_ *ir.Value, n string) bool { return n == d.Target.Name.Name.Text })
	}
	w.with, w.letter, w.fresh = w.with[:with], letter, fresh
	return nil
}

// A formError says why a value has no form in the notation, or none of some kind. Methods
// of a writer panic with it, and attempt recovers it.
type formError struct{ text string }

func (e *formError) Error() string { return e.text }

func noForm(format string, args ...any) *formError { return &formError{fmt.Sprintf(format, args...)} }

// noArray is the error of a value that has no form without indices.
var noArray = noForm("it has no form without indices")

// attempt calls write and returns the formError that it panics with.
func attempt(write func() notation.Expr) (x notation.Expr, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *formError:
			err = e
		default:
			panic(e)
		}
	}()
	return write(), nil
}

// cheap values are cheap to write again, so they get no name: numbers, and conditions,
// which no name can hold.
func cheap(v *ir.Value) bool {
	return v.Def != nil && (v.Def.Op == ir.Const || v.Def.Op == ir.SizeOf || v.Elem != ir.Real)
}

func identifier(text string) *notation.Ident {
	return &notation.Ident{Name: notation.Word{Text: text}}
}

// numeral writes a number that is not negative; half of it is ½.
func numeral(x float64) *notation.Number {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if x == 0.5 {
		text = "½"
	}
	text = strings.Replace(strings.Replace(text, "e-0", "e-", 1), "e+", "e", 1)
	return &notation.Number{Value: x, Text: text}
}
