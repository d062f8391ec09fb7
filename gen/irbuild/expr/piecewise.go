package expr

import (
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Choices: piecewise definitions, cases, and conditions.

// piecewise builds { a if c ; b otherwise } as nested choices.
func (e *Builder) piecewise(x *notation.Piecewise) *tensor.Tensor {
	if t := e.guardedValue(x); t != nil {
		return t
	}
	depth := len(e.Branches)
	defer func() { e.Branches = e.Branches[:depth] }()
	type arm struct{ cond, val *tensor.Tensor }
	var arms []arm
	ok := true
	for _, a := range x.Arms {
		var c *tensor.Tensor
		before := len(e.Branches)
		if a.Cond != nil {
			if c = e.condition(a.Cond); c == nil {
				ok = false
				continue
			}
			c = e.Materialize(c)
			e.Branches = append(e.Branches, Branch{c, true})
		}
		v := e.OpenValue(a.Value)
		e.Branches = e.Branches[:before]
		if c != nil {
			e.Branches = append(e.Branches, Branch{c, false})
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
				arms[j].val, arms[i].val = e.Agree(x.Arms[j].Value, x.Arms[i].Value, arms[j].val, arms[i].val)
				ok = arms[i].val != nil
			}
		}
	}
	for i := range arms {
		if ok {
			ok = e.Closed(x.Arms[i].Value, arms[i].val) != nil && (i == 0 || e.Same(x, x.Arms[0].Value, x.Arms[i].Value, arms[0].val, arms[i].val))
		}
	}
	if !ok || len(arms) == 0 {
		return nil
	}
	if arms[len(arms)-1].cond != nil {
		e.Errorf(diag.NotSupported, x, "the last branch has a condition").Hint("end with `otherwise`")
		return nil
	}
	out := arms[len(arms)-1].val
	for i := len(arms) - 2; i >= 0; i-- {
		out = e.Select(arms[i].cond, arms[i].val, out)
	}
	return out
}

// guardedValue builds { a if i = t ; 0 otherwise } in a chunk, where the condition
// compares indices: nothing is chosen, the other entries do not exist.
func (e *Builder) guardedValue(x *notation.Piecewise) *tensor.Tensor {
	if !e.Chunked || len(x.Arms) != 2 || x.Arms[1].Cond != nil {
		return nil
	}
	zero, ok := notation.Constant(x.Arms[1].Value)
	r, isRelation := x.Arms[0].Cond.(*notation.Relation)
	if !ok || zero != 0 || !isRelation {
		return nil
	}
	guards := e.indexGuards(r)
	if guards == nil {
		return nil
	}
	t := e.Value(x.Arms[0].Value)
	if t == nil {
		return nil
	}
	return e.Where(t, guards...)
}

// chooseCase takes the arm that the configuration selects; a case on an
// attribute of the parameter under update stays a choice.
func (e *Builder) chooseCase(x *notation.Case) *tensor.Tensor {
	if v := e.Block.ChosenArm(x); v != nil {
		return e.OpenExpr(v)
	}
	if id, ok := x.On.(*notation.Ident); ok && e.Block.Unit.Kind == notation.UpdateUnit && len(x.Arms) == 2 {
		if word, ok := x.Arms[0].Cond.(*notation.Ident); ok && x.Arms[1].Cond == nil {
			flag := e.attribute(id, word)
			if flag == nil {
				return nil
			}
			yes, no := e.Expr(x.Arms[0].Value), e.Expr(x.Arms[1].Value)
			if yes == nil || no == nil {
				return nil
			}
			return e.Select(flag, yes, no)
		}
	}
	e.Errorf(diag.NotSupported, x, "no arm of this case is selected").Hint("a case chooses by an option, when the page is configured")
	return nil
}

// noDecay is the attribute of a parameter that an update is told.
const noDecay = "nodecay"

// attribute is a flag of the parameter under update, such as nodecay.
func (e *Builder) attribute(of, word *notation.Ident) *tensor.Tensor {
	w := e.Block.Unit.Params[0].Name.Text
	switch {
	case of.Name.Text != w:
		e.Errorf(diag.UnknownName, of, "attributes are those of the parameter").Hint("write case %s { … }", w)
		return nil
	case word.Name.Text != noDecay:
		e.Errorf(diag.UnknownName, word, "an update knows no attribute %s", word.Name.Text).Hint("it knows whether %s is %s", w, noDecay)
		return nil
	}
	v := e.Func.Param(noDecay)
	if v == nil {
		v = e.Func.AddParam(noDecay, ir.Constant, ir.Bool)
	}
	return &tensor.Tensor{Elem: ir.Bool, Coef: 1, Factors: []tensor.Factor{{Val: v}}}
}

// condition builds a truth value.
func (e *Builder) condition(x notation.Expr) *tensor.Tensor {
	switch x := x.(type) {
	case *notation.And:
		a, b := e.condition(x.X), e.condition(x.Y)
		if a == nil || b == nil {
			return nil
		}
		return e.Entrywise(ir.And, a, b)
	case *notation.Relation:
		return e.relation(x)
	}
	t := e.Expr(x)
	if t != nil && t.Elem != ir.Bool {
		e.Errorf(diag.NotSupported, x, "%s is %s, not a condition", Text(x), e.Type(t))
		return nil
	}
	return t
}

func (e *Builder) relation(x *notation.Relation) *tensor.Tensor {
	a, b := e.numeric(x.X), e.numeric(x.Y)
	if a == nil || b == nil {
		return nil
	}
	if len(a.Axes) > 0 || len(b.Axes) > 0 {
		if !e.Same(x, x.X, x.Y, a, b) {
			return nil
		}
	}
	switch x.Op {
	case "=":
		return e.Entrywise(ir.Equal, a, b)
	case "≠":
		return e.Entrywise(ir.Not, e.Entrywise(ir.Equal, a, b))
	case "<":
		return e.Entrywise(ir.Less, a, b)
	case "≤":
		return e.Entrywise(ir.LessEq, a, b)
	case ">":
		return e.Entrywise(ir.Less, b, a)
	case "≥":
		return e.Entrywise(ir.LessEq, b, a)
	}
	e.Errorf(diag.NotSupported, x, "%s cannot be computed here", x.Op)
	return nil
}

// numeric builds an expression whose value may be an index or a number, or a
// sum of such.
func (e *Builder) numeric(x notation.Expr) *tensor.Tensor {
	if b, ok := x.(*notation.Binary); ok && (b.Op == "+" || b.Op == "−") {
		a, c := e.numeric(b.X), e.numeric(b.Y)
		if a == nil || c == nil {
			return nil
		}
		return e.sum(b, a, c, map[string]float64{"+": 1, "−": -1}[b.Op])
	}
	if id, ok := x.(*notation.Ident); ok {
		if b := e.Local(id.Name.Text); b != nil && b.Index != nil {
			return e.Position(tensor.AffineOf(b.Index))
		}
	}
	t := e.Expr(x)
	if t != nil && t.Elem == ir.Int {
		return e.Entrywise(ir.ToReal, t)
	}
	return t
}
