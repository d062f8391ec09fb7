package equivalence

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// exactTol is the tolerance of two orders of the same sums.
const exactTol = 1e-12

// A side of a special case has a program, and one for the first values of its states.
type side struct {
	blk      *check.Block
	f, start *ir.Func
}

// matchAnchors renames the anchors of a side to the names of the other side's anchors of the
// same states.
func (s side) matchAnchors(other side) {
	for _, a := range s.blk.SymSeq {
		if a.Kind != check.Anchor || other.f.Param(ident.ASCII(a.Name)) != nil {
			continue
		}
		b := other.blk.AnchorOf(a.Of)
		if b == nil || s.f.Param(ident.ASCII(b.Name)) != nil {
			continue
		}
		for _, f := range []*ir.Func{s.f, s.start} {
			renameState(f, ident.ASCII(a.Name), ident.ASCII(b.Name))
		}
	}
}

// renameState renames a state of a program among its parameters and results.
func renameState(f *ir.Func, old, name string) {
	if f == nil {
		return
	}
	if p := f.Param(old); p != nil {
		p.Name = name
	}
	for i := range f.Results {
		if f.Results[i].Name == old {
			f.Results[i].Name = name
		}
	}
}

// buildSide builds one side of a special case.
func buildSide(p *proof.Context, f *notation.Formula, with []*notation.Override) side {
	blk, ds := check.InstantiateFormula(p.Tree, p.Unit.Name.Text, f, with)
	if blk == nil || ds.HasErrors() {
		p.Diags.Append(ds)
		return side{}
	}
	var built diag.List
	s := side{blk: blk, f: irbuild.Whole(blk, &built)}
	if s.f != nil && blk.Unit.Kind == notation.RuleUnit {
		s.start = irbuild.Start(blk, &built)
	}
	p.Diags.Append(built)
	if built.HasErrors() {
		return side{}
	}
	return s
}

// orZero is a tensor, or zeros in the shape of the other side's: a missing adjoint is zero.
func orZero(t, other *interp.Tensor) *interp.Tensor {
	if t == nil {
		return interp.NewTensor(other.Shape...)
	}
	return t
}

// Evaluate evaluates a program and its gradients for given weights of the results. It returns
// them by name, as "value of y" and "adjoint of x", and the names in the order of the program.
func Evaluate(f *ir.Func, pair *ir.Pair, params numeric.Tensors, sizes map[string]int, weigh func(ir.Result, *interp.Tensor) *interp.Tensor) (numeric.Tensors, []string) {
	all, names := numeric.Tensors{}, []string{}
	_, grads := numeric.ForwardBackward(f, pair, sizes, params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		all["value of "+r.Name] = out
		names = append(names, "value of "+r.Name)
		return weigh(r, out)
	})
	for _, v := range f.Params {
		if g := grads[v.Name]; g != nil {
			all["adjoint of "+v.Name] = g
			names = append(names, "adjoint of "+v.Name)
		}
	}
	return all, names
}

// commonResults is f, simplified, with only the results that g has too.
func commonResults(f, g *ir.Func) *ir.Func {
	h, _ := f.Clone()
	h.Results = slices.DeleteFunc(h.Results, func(r ir.Result) bool { return g.Result(r.Name) == nil })
	simplify.Simplify(h)
	h.Sweep()
	used := h.Uses()
	h.Params = slices.DeleteFunc(h.Params, func(v *ir.Value) bool { return used[v] == 0 })
	return h
}

func simplified(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	simplify.Simplify(g)
	return g
}

// unmatched is a parameter of one program that the other lacks, or "".
func unmatched(f, g *ir.Func) string {
	for _, pair := range [][2]*ir.Func{{f, g}, {g, f}} {
		for _, v := range pair[0].Params {
			if pair[1].Param(v.Name) == nil {
				return v.Name
			}
		}
	}
	return ""
}

// SameNormalForm reports whether two results of a program have the same normal form.
func SameNormalForm(f *ir.Func, left, right string) bool {
	return simplify.Equal(withResult(f, left), withResult(f, right))
}

// withResult is f, simplified, with one result.
func withResult(f *ir.Func, name string) *ir.Func {
	g, _ := f.Clone()
	g.Results = []ir.Result{{Name: "value", Val: g.Result(name)}}
	g.Sweep()
	simplify.Simplify(g)
	return g
}
