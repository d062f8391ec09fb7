package irbuild

import (
	"fmt"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A claim of an update speaks of a fire. What a slot holds is made by fires: a
// mean of squares cannot be any number. So the program of a claim is a few
// fires in a row, from slots of zero, each with a gradient of its own; x_n is of
// the last of them, x_{1} of the first, and w_0 is where the parameter began.

// claimedFires is how many fires the program of a claim has.
const claimedFires = 3

// A fireClaim serves the claims of an update.
type fireClaim struct {
	*claimNames
	fires []*updateNames
}

func newFireClaim(blk *check.Block, name string, ds *diag.List) (*builder, claimNamer) {
	e := newBuilder(blk, name, ds)
	n := &fireClaim{claimNames: newClaimNames()}
	first := newUpdateNames(e, false)
	for k := range claimedFires {
		u := &updateNames{loops: first.loops, axes: first.axes, vals: map[string]*ten{}, old: map[string]*ten{}, failed: map[string]bool{}}
		u.clock = literal(float64(k + 1))
		for _, s := range blk.SymSeq {
			switch {
			case s.Kind == check.Input:
				v := e.f.AddParam(fmt.Sprintf("%s.%d", ident.ASCII(s.Name), k+1), ir.Input, ir.Real, append(axesOf(u.loops), u.axes...)...)
				u.old[s.Name] = e.ofValue(v, u.loops, u.axes)
			case s.Kind == check.State && k > 0:
				u.old[s.Name] = n.fires[k-1].vals[s.Name]
			case s.Kind == check.State && s.Decl != nil:
				u.old[s.Name] = &ten{axes: u.axes, elem: ir.Real}
			}
		}
		e.names = u
		u.fire(e)
		n.fires = append(n.fires, u)
	}
	for name, o := range blk.Options {
		n.frees[ident.ASCII(name)] = Free{Text: name, Type: o.Decl.Type}
	}
	return e, n
}

func (n *fireClaim) vars() []*loopVar { return n.fires[0].loops }

func (n *fireClaim) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	last := n.fires[len(n.fires)-1]
	switch {
	case when.first:
		if t := n.fires[0].vals[sym.Name]; t != nil {
			return t
		}
		if sym.Kind == check.Input {
			return n.fires[0].old[sym.Name]
		}
	case when.initial && sym.Kind == check.State:
		return n.fires[0].old[sym.Name]
	default:
		return last.name(e, sym, when, span)
	}
	e.ds.Errorf(diag.TimeSuffix, span, "%s has no value at this moment", sym.Name)
	return nil
}

func (n *fireClaim) barred(e *builder, x *notation.Ident, _ string) *ten {
	return n.noBar(e, x, "an update has no backward")
}
