package irbuild

import (
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Op builds an operation: parameters in the order of its header, out.
func Op(blk *check.Block, ds *diag.List) *ir.Func {
	e, n := newPlainBuilder(blk, blk.ID, ds)
	before := ds.Len()
	for _, s := range blk.SymSeq {
		if s.Kind == check.Input || s.Kind == check.Constant {
			n.name(e, s, moment{}, s.Span)
		}
	}
	for _, eq := range blk.Eqs {
		n.equation(e, eq)
	}
	if ds.Len() > before && ds.HasErrors() || n.vals["out"] == nil {
		return nil
	}
	out := e.override(n.vals["out"])
	if out == nil {
		return nil
	}
	val := e.pack(out, e.lanes())
	if val.Def == nil {
		val = e.pack(e.copied(out), e.lanes())
	}
	e.f.Results = append(e.f.Results, ir.Result{Name: "out", Val: val})
	adopt(e.f)
	return bounded(blk, e.f, ds)
}

// override applies eval and relax: the value is what eval says, the gradient
// that of relax, or of the equation where there is no relax.
func (e *builder) override(out *ten) *ten {
	eval, relax := out, out
	changed := false
	for _, c := range e.blk.Claims {
		word := c.Keyword.Text
		if word != "eval" && word != "relax" {
			continue
		}
		e.push(&scope{})
		ok := e.with(c.With)
		t := (*ten)(nil)
		if ok {
			t = e.value(c.Right)
		}
		e.pop()
		if t == nil {
			return nil
		}
		changed = true
		if word == "eval" {
			eval = t
		} else {
			relax = t
		}
	}
	if !changed {
		return out
	}
	return e.scalar2(ir.Override, eval, relax)
}

func newPlainBuilder(blk *check.Block, name string, ds *diag.List) (*builder, *plainNames) {
	e := newBuilder(blk, name, ds)
	n := newPlainNames()
	e.names = n
	e.lane = e.newVar("lane", e.axis(blk.Axes["L"]))
	return e, n
}
