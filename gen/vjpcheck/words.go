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

// words are the functions that the pages of a tree define. A table's word is
// the operation whose name has the same letters (`softmax` is Softmax), a
// function of that very name, or a scalar primitive of the notation; each is
// built once, which tells its shapes.
type words struct {
	tree  *units.Tree
	known map[string]*word
}

// A word is a function with the axes of its parameters. A scalar one acts on
// every entry.
type word struct {
	call   string // its name in the notation
	scalar bool
	arity  int
	right  bool // it has no value left of zero
	params [][]string
	result []string
}

func newWords(tree *units.Tree) *words { return &words{tree, map[string]*word{}} }

// find returns the function of a name with so many arguments, or nil.
func (w *words) find(text string, args int) *word {
	key := fmt.Sprintf("%s/%d", text, args)
	if f, done := w.known[key]; done {
		return f
	}
	w.known[key] = w.look(text, args)
	return w.known[key]
}

func squash(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }

func (w *words) look(text string, args int) *word {
	for _, u := range w.tree.Order {
		switch {
		case u.Kind == notation.FuncUnit && u.Name.Text == text && len(u.Result.Target.Params) == args:
			return w.build(u.Name.Text, u.Result.Target.Params)
		case u.Kind == notation.OpUnit && squash(u.Name.Text) == squash(text) && len(u.Params) == args:
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

// build makes an operation that calls the function and looks at its axes.
func (w *words) build(call string, params []*notation.Param) *word {
	out := &word{call: call, arity: len(params), scalar: true}
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
		out.right = out.arity == 1 && math.IsNaN(evaluate(f, params[0], -1))
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
func (w *words) compile(u *notation.Unit) *ir.Func {
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
