package irbuild

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A plainClaim serves an operation, a composition or a model: its names are
// those of the block, for every lane, and the adjoints those of its output.
type plainClaim struct {
	*claimNames
	*plainNames
	e    *builder
	bars map[string]*ten
}

func newPlainClaim(blk *check.Block, name string, ds *diag.List) (*builder, claimNamer) {
	e, p := newPlainBuilder(blk, name, ds)
	n := &plainClaim{claimNames: newClaimNames(), plainNames: p, e: e}
	e.names = n
	for _, s := range blk.SymSeq {
		if s.Kind == check.Input || s.Kind == check.Constant {
			n.name(e, s, moment{}, s.Span)
		}
	}
	c := quietly(blk)
	for _, eq := range blk.Eqs {
		if x := c.callOf(eq); x != nil {
			n.answer(e, eq, x)
		} else {
			p.equation(e, eq)
		}
	}
	return e, n
}

// quietly recognises calls of parts; what is wrong with them is said where the
// unit is composed.
func quietly(blk *check.Block) *composer {
	return &composer{blk: blk, ds: &diag.List{}, n: newPlainNames()}
}

// answer is what a part gives: anything of its argument's type; what the parts of
// a list give lies side by side.
func (n *plainClaim) answer(e *builder, eq *check.Equation, x *partCall) {
	if x.arg == nil {
		return
	}
	t := e.expr(x.arg)
	if t == nil {
		return
	}
	if x.how == Each {
		t = t.clone()
		t.axes = append([]*ir.Axis{e.axis(e.blk.CountAxis(x.part))}, t.axes...)
	}
	v := e.f.AddParam(ident.ASCII(eq.Name), ir.Input, ir.Real, append(axesOf(e.lanes()), t.axes...)...)
	n.frees[v.Name] = Free{Text: eq.Name}
	n.plainNames.vals[eq.Name] = e.ofValue(v, e.lanes(), t.axes)
}

func (n *plainClaim) vars() []*loopVar { return n.e.lanes() }

func (n *plainClaim) name(e *builder, sym *check.Symbol, when moment, span notation.Span) *ten {
	before := len(e.f.Params)
	if n.plainNames.vals[sym.Name] == nil && sym.Kind == check.Outer { // of one lane: so is its adjoint
		n.plainNames.vals[sym.Name] = e.param(sym, ir.Outer, e.lanes())
	}
	t := n.plainNames.name(e, sym, when, span)
	for _, p := range e.f.Params[before:] {
		n.frees[p.Name] = Free{Text: sym.Name, Sym: sym, Type: sym.Type}
	}
	return t
}

// barred is an adjoint: of the output, which is a parameter, or of an input.
func (n *plainClaim) barred(e *builder, x *notation.Ident, _ string) *ten {
	if n.bars == nil && !n.reverse(e) {
		return nil
	}
	if t := n.bars[x.Name.Text]; t != nil {
		return t
	}
	return n.noBar(e, x, "an operation has the adjoints of its operands and of out")
}

// reverse derives the adjoints of the operation from that of its output.
func (n *plainClaim) reverse(e *builder) bool {
	out := e.apart(func() *ten { return n.differentiated(e) })
	if out == nil {
		return false
	}
	val := e.pack(e.copied(e.one(out)), e.lanes())
	name := n.output()
	bar := e.f.AddParam(ir.AdjointName(ident.ASCII(name)), ir.Adjoint, ir.Real, val.Axes...)
	n.frees[bar.Name] = Free{Text: name + "̄"}
	n.bars = map[string]*ten{name: e.ofValue(bar, e.lanes(), out.axes)}
	n.bars[name].row = out.row
	var wrt []*ir.Value
	for _, p := range e.f.Params {
		if p.Elem == ir.Real && p != bar {
			wrt = append(wrt, p)
		}
	}
	adj := autodiff.Reverse(e.b, map[*ir.Value]*ir.Value{val: bar}, wrt)
	for _, name := range slices.Sorted(maps.Keys(n.plainNames.vals)) {
		t := n.plainNames.vals[name]
		if t == nil || len(t.fs) != 1 || !slices.Contains(wrt, t.fs[0].val) {
			continue
		}
		u := t.clone()
		if u.fs[0].val = adj[t.fs[0].val]; u.fs[0].val == nil {
			u.fs[0].val = e.b.Const(0, t.fs[0].val.Axes...)
		}
		n.bars[name] = u
	}
	return true
}

// output is the name of what a unit gives: of a model the last number that it
// computes.
func (n *plainClaim) output() string {
	if n.e.blk.Unit.Kind == notation.ModelUnit {
		for _, eq := range slices.Backward(n.e.blk.Eqs) {
			if t := n.plainNames.vals[eq.Name]; t != nil && len(t.axes) == 0 {
				return eq.Name
			}
		}
	}
	return "out"
}

// differentiated is the output, or what relax says in its place.
func (n *plainClaim) differentiated(e *builder) *ten {
	out := n.plainNames.vals[n.output()]
	if out == nil {
		e.ds.Errorf(diag.UnknownName, e.span, "this block has no output to differentiate")
		return nil
	}
	for _, c := range e.blk.Claims {
		if c.Keyword.Text == "relax" {
			e.push(&scope{})
			if !e.with(c.With) {
				return nil
			}
			out = e.expr(c.Right)
			e.pop()
		}
	}
	return out
}
