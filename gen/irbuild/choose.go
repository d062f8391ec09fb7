package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// piecewise builds { a if c ; b otherwise } as nested choices.
func (e *builder) piecewise(x *notation.Piecewise) *ten {
	if t := e.onlyWhere(x); t != nil {
		return t
	}
	depth := len(e.safe)
	defer func() { e.safe = e.safe[:depth] }()
	type arm struct{ cond, val *ten }
	var arms []arm
	ok := true
	for _, a := range x.Arms {
		var c *ten
		before := len(e.safe)
		if a.Cond != nil {
			if c = e.condition(a.Cond); c == nil {
				ok = false
				continue
			}
			c = e.one(c)
			e.safe = append(e.safe, choice{c, true})
		}
		v := e.operand(a.Value)
		e.safe = e.safe[:before]
		if c != nil {
			e.safe = append(e.safe, choice{c, false})
		}
		if v == nil {
			ok = false
			continue
		}
		arms = append(arms, arm{c, v})
	}
	for i := range arms {
		for j := range i {
			if ok {
				arms[j].val, arms[i].val = e.agree(x.Arms[j].Value, x.Arms[i].Value, arms[j].val, arms[i].val)
				ok = arms[i].val != nil
			}
		}
	}
	for i := range arms {
		if ok {
			ok = e.closed(x.Arms[i].Value, arms[i].val) != nil && (i == 0 || e.same(x, x.Arms[0].Value, x.Arms[i].Value, arms[0].val, arms[i].val))
		}
	}
	if !ok || len(arms) == 0 {
		return nil
	}
	if arms[len(arms)-1].cond != nil {
		e.errorf(diag.NotSupported, x, "the last branch has a condition").Hint("end with `otherwise`")
		return nil
	}
	out := arms[len(arms)-1].val
	for i := len(arms) - 2; i >= 0; i-- {
		out = e.selectTen(arms[i].cond, arms[i].val, out)
	}
	return out
}

// onlyWhere builds { a if i = t ; 0 otherwise } in a chunk, where the condition
// compares indices: nothing is chosen, the other entries do not exist.
func (e *builder) onlyWhere(x *notation.Piecewise) *ten {
	if e.chunk == nil || len(x.Arms) != 2 || x.Arms[1].Cond != nil {
		return nil
	}
	zero, ok := check.Number(x.Arms[1].Value)
	r, isRelation := x.Arms[0].Cond.(*notation.Relation)
	if !ok || zero != 0 || !isRelation {
		return nil
	}
	guards := e.indexGuards(r)
	if guards == nil {
		return nil
	}
	t := e.value(x.Arms[0].Value)
	if t == nil {
		return nil
	}
	var keep []*loopVar
	for _, g := range guards {
		g.vars(func(v *loopVar) {
			if !slices.Contains(keep, v) {
				keep = append(keep, v)
			}
		})
	}
	return e.emit(emission{op: ir.Prod, coef: []float64{t.coef}, locals: t.axes, out: len(t.axes), keep: keep,
		args: t.place(upTo(len(t.axes))), guards: guards})
}

// chooseCase takes the arm that the configuration selects; a case on an
// attribute of the parameter under update stays a choice.
func (e *builder) chooseCase(x *notation.Case) *ten {
	if v := e.blk.ChosenArm(x); v != nil {
		return e.any(v)
	}
	if id, ok := x.On.(*notation.Ident); ok && e.blk.Unit.Kind == notation.UpdateUnit && len(x.Arms) == 2 {
		if word, ok := x.Arms[0].Cond.(*notation.Ident); ok && x.Arms[1].Cond == nil {
			flag := e.attribute(id, word)
			if flag == nil {
				return nil
			}
			yes, no := e.expr(x.Arms[0].Value), e.expr(x.Arms[1].Value)
			if yes == nil || no == nil {
				return nil
			}
			return e.selectTen(flag, yes, no)
		}
	}
	e.errorf(diag.NotSupported, x, "no arm of this case is selected").Hint("a case chooses by an option, when the page is configured")
	return nil
}

// noDecay is the attribute of a parameter that an update is told.
const noDecay = "nodecay"

// attribute is a flag of the parameter under update, such as nodecay.
func (e *builder) attribute(of, word *notation.Ident) *ten {
	w := e.blk.Unit.Params[0].Name.Text
	switch {
	case of.Name.Text != w:
		e.errorf(diag.UnknownName, of, "attributes are those of the parameter").Hint("write case %s { … }", w)
		return nil
	case word.Name.Text != noDecay:
		e.errorf(diag.UnknownName, word, "an update is told of no attribute %s", word.Name.Text).Hint("it is told whether %s is %s", w, noDecay)
		return nil
	}
	v := e.f.Param(noDecay)
	if v == nil {
		v = e.f.AddParam(noDecay, ir.Constant, ir.Bool)
	}
	return &ten{elem: ir.Bool, coef: 1, fs: []factor{{val: v}}}
}

// condition builds a truth value.
func (e *builder) condition(x notation.Expr) *ten {
	switch x := x.(type) {
	case *notation.And:
		a, b := e.condition(x.X), e.condition(x.Y)
		if a == nil || b == nil {
			return nil
		}
		return e.scalar2(ir.And, a, b)
	case *notation.Relation:
		return e.relation(x)
	}
	t := e.expr(x)
	if t != nil && t.elem != ir.Bool {
		e.errorf(diag.NotSupported, x, "%s is %s, not a condition", text(x), e.typ(t))
		return nil
	}
	return t
}

func (e *builder) relation(x *notation.Relation) *ten {
	a, b := e.numeric(x.X), e.numeric(x.Y)
	if a == nil || b == nil {
		return nil
	}
	if len(a.axes) > 0 || len(b.axes) > 0 {
		if !e.same(x, x.X, x.Y, a, b) {
			return nil
		}
	}
	switch x.Op {
	case "=":
		return e.scalar2(ir.Equal, a, b)
	case "≠":
		return e.scalar2(ir.Not, e.scalar2(ir.Equal, a, b))
	case "<":
		return e.scalar2(ir.Less, a, b)
	case "≤":
		return e.scalar2(ir.LessEq, a, b)
	case ">":
		return e.scalar2(ir.Less, b, a)
	case "≥":
		return e.scalar2(ir.LessEq, b, a)
	}
	e.errorf(diag.NotSupported, x, "%s cannot be computed here", x.Op)
	return nil
}

// numeric builds an expression whose value may be an index or a number, or a
// sum of such.
func (e *builder) numeric(x notation.Expr) *ten {
	if b, ok := x.(*notation.Binary); ok && (b.Op == "+" || b.Op == "−") {
		a, c := e.numeric(b.X), e.numeric(b.Y)
		if a == nil || c == nil {
			return nil
		}
		return e.sum(x, a, c, map[string]float64{"+": 1, "−": -1}[b.Op])
	}
	if id, ok := x.(*notation.Ident); ok {
		if b := e.local(id.Name.Text); b != nil && b.idx != nil {
			return e.position(varAff(b.idx))
		}
	}
	t := e.expr(x)
	if t != nil && t.elem == ir.Int {
		return e.scalar2(ir.ToReal, t)
	}
	return t
}

// position is the value of an index as a number.
func (e *builder) position(a affine) *ten {
	v := a.single()
	if v == nil {
		return nil
	}
	out := e.emit(emission{op: ir.Iota, keep: []*loopVar{v}})
	in := out.fs[0].val.Def
	in.Over = []int{0}
	return out
}
