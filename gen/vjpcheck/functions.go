package vjpcheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// Functions that a table may call.

// functions are the functions that the pages of a tree define. A name in a table is the
// operation whose name has the same letters (`softmax` is Softmax), a function of the same
// name, or a scalar primitive of the notation. Each is built once, to find its shapes.
type functions struct {
	tree  *units.Tree
	known map[string]*callable
}

// A callable is a function with the axes of its parameters. A scalar one is applied entry
// by entry.
type callable struct {
	call     string // its name in the notation
	scalar   bool
	arity    int
	positive bool // it has no value left of zero
	params   [][]string
	result   []string
}

func newFunctions(tree *units.Tree) *functions { return &functions{tree, map[string]*callable{}} }

// find returns the function of a name with a number of arguments, or nil.
func (w *functions) find(text string, args int) *callable {
	key := fmt.Sprintf("%s/%d", text, args)
	if f, done := w.known[key]; done {
		return f
	}
	w.known[key] = w.resolve(text, args)
	return w.known[key]
}

func foldName(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

func (w *functions) resolve(text string, args int) *callable {
	for _, u := range w.tree.Order {
		switch {
		case u.Kind == notation.FuncUnit && u.Name.Text == text && len(u.Result.Target.Params) == args:
			return w.build(u.Name.Text, u.Result.Target.Params)
		case u.Kind == notation.OpUnit && foldName(u.Name.Text) == foldName(text) && len(u.Params) == args:
			return w.build(u.Name.Text, u.Params)
		}
	}
	if !notation.Builtins[text] {
		return nil
	}
	var params []*notation.Param
	for i := range args {
		params = append(params, &notation.Param{Name: notation.Word{Text: fmt.Sprintf("x%d", i)}, Type: &notation.Type{Kind: notation.RealType, AnyShape: true}})
	}
	return w.build(text, params)
}

// build makes an operation that calls the function, and reads its axes.
func (w *functions) build(call string, params []*notation.Param) *callable {
	out := &callable{call: call, arity: len(params), scalar: true}
	x := &notation.Call{Fun: notation.Word{Text: call}}
	u := &notation.Unit{Kind: notation.OpUnit, Name: notation.Word{Text: "Word"}}
	for _, p := range params {
		q := *p
		q.Group = 0
		u.Params = append(u.Params, &q)
		x.Args = append(x.Args, &notation.Ident{Name: p.Name})
		out.scalar = out.scalar && (p.Type == nil || p.Type.AnyShape || len(p.Type.Shape) == 0)
	}
	u.Result = &notation.Define{Target: &notation.Target{Name: &notation.Ident{Name: notation.Word{Text: resultName}}}, Value: x}
	f := w.compile(u)
	if f == nil {
		return nil
	}
	if out.scalar {
		out.positive = out.arity == 1 && math.IsNaN(evaluate(f, params[0], -1))
		return out
	}
	for _, p := range params {
		v := f.Param(ident.ASCII(p.Name.Text))
		if v == nil {
			return nil
		}
		var axes []string
		for _, a := range v.Axes[1:] {
			axes = append(axes, a.Name)
		}
		out.params = append(out.params, axes)
	}
	for _, a := range f.Results[0].Val.Axes[1:] {
		out.result = append(out.result, a.Name)
	}
	if slices.ContainsFunc(out.result, func(a string) bool {
		return !slices.ContainsFunc(out.params, func(p []string) bool { return slices.Contains(p, a) })
	}) {
		return nil
	}
	return out
}

// compile builds an operation, or returns nil.
func (w *functions) compile(u *notation.Unit) *ir.Func {
	blk, ds := check.Instantiate(w.tree, u)
	if blk == nil || ds.HasErrors() {
		return nil
	}
	var bd diag.List
	f := irbuild.Op(blk, &bd)
	if bd.HasErrors() {
		return nil
	}
	return f
}

// evaluate applies a function of one number.
func evaluate(f *ir.Func, p *notation.Param, x float64) float64 {
	id := ident.ASCII(p.Name.Text)
	arg := &interp.Tensor{Shape: []int{1, 1}, Data: []float64{x}}
	if v := f.Param(id); v == nil || len(v.Axes) != 2 {
		return 0
	}
	return interp.Run(f, map[string]int{"L": 1, "n": 1}, map[string]*interp.Tensor{id: arg})[resultName].Data[0]
}
