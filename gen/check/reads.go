package check

import (
	"maps"

	"github.com/nl-hecate/hecate/gen/notation"
)

// What an equation reads, from its text alone: names with their moments, through
// the functions that it calls.

// reads lists the names that an equation reads, the bodies of the functions it
// calls included. A case is decided first: an arm that is not taken reads
// nothing.
func (o *orderer) reads(e *Equation) []read {
	var out []read
	if e.Matched {
		return o.found(e)
	}
	if e.Iter != nil {
		o.rounds(e.Iter, &out)
		return out
	}
	local := notation.Locals(nil, e.Def)
	if e.Def != nil {
		notation.Bind(local, e.Def.Target.Index)
		if _, solve := e.Def.Value.(*notation.Solve); solve { // an unknown stands in its own equation
			local[e.Def.Target.Name.Name.Text] = true
		}
	}
	o.exprs(e.Value(), local, map[string]bool{}, &out)
	if e.Def != nil {
		for _, w := range e.Def.With {
			o.exprs(w.Value, local, map[string]bool{}, &out)
		}
	}
	if e.Gate != nil && e.Gate.Within != nil {
		o.exprs(e.Gate.Within.Lo, nil, map[string]bool{}, &out)
		o.exprs(e.Gate.Within.Hi, nil, map[string]bool{}, &out)
	}
	return out
}

// rounds lists what an iteration reads: its name is its own from the first
// round on.
func (o *orderer) rounds(it *notation.Iterate, out *[]read) {
	o.exprs(it.From, nil, map[string]bool{}, out)
	o.exprs(it.Count, nil, map[string]bool{}, out)
	own := notation.Locals(nil, &notation.Define{With: it.With})
	own[it.Name.Text] = true
	if it.Index != nil {
		own[it.Index.Text] = true
	}
	o.exprs(it.Step, own, map[string]bool{}, out)
	for _, w := range it.With {
		o.exprs(w.Value, own, map[string]bool{}, out)
	}
}

func (o *orderer) exprs(e notation.Expr, local, calls map[string]bool, out *[]read) {
	if e == nil {
		return
	}
	notation.Inspect(e, func(n any) bool {
		switch n := n.(type) {
		case *notation.Binder:
			for _, b := range n.Tuple {
				o.exprs(b.Cond, local, calls, out)
			}
			o.exprs(n.Cond, local, calls, out)
			return false // a range is made of axes
		case *notation.Reduce:
			in := maps.Clone(local)
			if in == nil {
				in = map[string]bool{}
			}
			notation.Bind(in, n.Binders)
			for _, b := range n.Binders {
				o.exprs(b.Cond, in, calls, out)
				for _, c := range b.Tuple {
					o.exprs(c.Cond, in, calls, out)
				}
			}
			o.exprs(n.Body, in, calls, out)
			o.exprs(n.Empty, local, calls, out)
			return false
		case *notation.Case:
			if arm := o.b.ChosenArm(n); arm != nil && !o.anyArm {
				o.exprs(arm, local, calls, out)
				return false
			}
		case *notation.Call:
			if !o.b.known(n.Fun.Text) {
				o.function(n.Fun.Text, calls, out)
			}
			if s := o.b.Symbols[n.Fun.Text]; s != nil && s.Kind == Part {
				*out = append(*out, read{name: n.Fun.Text, now: true, span: n.Fun.Span})
				if l := o.b.LevelsOf(n.Fun.Text); l != nil && o.b.Symbols[l.Gate] != nil {
					*out = append(*out, read{name: l.Gate, now: true, span: l.Span})
				}
			}
		case *notation.Ident:
			if hides, is := local[n.Name.Text]; is && (hides || n.Time == nil) {
				return true
			}
			name, time := o.b.Split(n.Name.Text)
			if z, inside := o.b.Replaced[name], "with "+name; z != nil && !local[name] && !calls[inside] {
				calls[inside] = true
				o.exprs(z, local, calls, out)
				delete(calls, inside)
				return true
			}
			if local[name] || o.b.Symbols[name] == nil {
				return true
			}
			zero := time == "0" || isZero(n.Time)
			now := n.Time == nil && !zero
			if s := o.b.Symbols[name]; s.Kind == State && o.b.Time == notation.TokenTime && time != "" && time != notation.TokenTime {
				now = false // at the moment of a window
			}
			at := time != "" && time != notation.TokenTime && !zero
			*out = append(*out, read{name: name, now: now, first: zero, at: at, span: n.Span})
		}
		return true
	})
}

func (o *orderer) function(name string, calls map[string]bool, out *[]read) {
	f := o.b.Funcs[name]
	if f == nil || calls[name] {
		return
	}
	calls[name] = true
	local := notation.Locals(f.Params, f.Def)
	for _, p := range f.Params {
		o.axes(f, p.Type, local)
	}
	o.exprs(f.Def.Value, local, calls, out)
	for _, w := range f.Def.With {
		o.exprs(w.Value, local, calls, out)
	}
}

// axes adds the axes that a signature introduces to the names that do not mean
// the block's.
func (o *orderer) axes(f *Function, t *notation.Type, local map[string]bool) {
	if t == nil {
		return
	}
	for _, x := range t.Shape {
		if id, ok := x.(*notation.Ident); ok && (f.Block == nil || o.b.AxisFor(f.Unit, id.Name.Text) == nil) {
			local[id.Name.Text] = true
		}
	}
}

// ChosenArm returns the arm of a case that the options select, or nil when it
// cannot be decided here.
func (b *Block) ChosenArm(c *notation.Case) notation.Expr {
	x := b.OptionValue(c.On)
	if id, ok := c.On.(*notation.Ident); ok && b.Options[id.Name.Text] == nil {
		return nil
	}
	for _, a := range c.Arms {
		if a.Cond == nil {
			return a.Value
		}
		if holds, known := b.Compare(a.Rel, x, a.Cond); known && holds {
			return a.Value
		}
	}
	return nil
}
