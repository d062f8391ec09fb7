package claim

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/expr"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/irbuild/update"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Claims of updates. The slots of an update are results of earlier update steps: a mean of
// squares, for example, cannot be any number. So the program of a claim is a few steps in
// sequence, from slots of zero, each with a gradient of its own; x_n belongs to the last of
// them, x_{1} to the first, and w_0 is the initial parameter.

// stepsOfClaim is the number of update steps in the program of a claim.
const stepsOfClaim = 3

// An updateClaim serves the claims of an update.
type updateClaim struct {
	*names
	steps []*update.Names
}

func newUpdateClaim(blk *check.Block, name string, ds *diag.List) (*expr.Builder, claimNamer) {
	e := expr.New(blk, name, ds)
	n := &updateClaim{names: newNames()}
	first := update.NewNames(e, false)
	for k := range stepsOfClaim {
		u := &update.Names{Loops: first.Loops, Axes: first.Axes, Values: map[string]*tensor.Tensor{}, Old: map[string]*tensor.Tensor{}, Failed: map[string]bool{}}
		u.Clock = tensor.Number(float64(k + 1))
		for _, s := range blk.SymSeq {
			switch {
			case s.Kind == check.Input:
				v := e.Func.AddParam(fmt.Sprintf("%s.%d", ident.ASCII(s.Name), k+1), ir.Input, ir.Real, append(tensor.AxesOf(u.Loops), u.Axes...)...)
				u.Old[s.Name] = e.FromValue(v, u.Loops, u.Axes)
			case s.Kind == check.State && k > 0:
				u.Old[s.Name] = n.steps[k-1].Values[s.Name]
			case s.Kind == check.State && s.Decl != nil:
				u.Old[s.Name] = tensor.Number(0).Over(u.Axes)
			}
		}
		e.Names = u
		u.Step(e)
		n.steps = append(n.steps, u)
	}
	for name, o := range blk.Options {
		n.frees[ident.ASCII(name)] = Free{Text: name, Type: o.Decl.Type}
	}
	return e, n
}

func (n *updateClaim) vars() []*tensor.LoopVar { return n.steps[0].Loops }

// Resolve finds the value of a name after the last step, or after the first.
func (n *updateClaim) Resolve(e *expr.Builder, sym *check.Symbol, when expr.Time, span notation.Span) *tensor.Tensor {
	last := n.steps[len(n.steps)-1]
	switch {
	case when.First:
		if t := n.steps[0].Values[sym.Name]; t != nil {
			return t
		}
		if sym.Kind == check.Input {
			return n.steps[0].Old[sym.Name]
		}
	case when.Initial && sym.Kind == check.State:
		return n.steps[0].Old[sym.Name]
	default:
		return last.Resolve(e, sym, when, span)
	}
	e.Diags.Errorf(diag.TimeSuffix, span, "%s has no value at this time step", sym.Name)
	return nil
}

// Adjoint refuses adjoints.
func (n *updateClaim) Adjoint(e *expr.Builder, x *notation.Ident, _ string) *tensor.Tensor {
	return n.refuseAdjoint(e, x, "an update has no backward")
}
