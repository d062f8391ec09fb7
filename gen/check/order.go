package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// order keeps the equations that the block's outputs need, classifies them by
// what stands behind them, and sorts them so that each comes after what it
// reads at its own moment. A front is thereby instantiated on demand: what
// nothing reads does not exist.
func (in *instancer) order() {
	o := &orderer{in: in, b: in.b, eq: map[string]*Equation{}, class: map[string]Class{}, mark: map[string]int{}}
	for _, e := range in.defs {
		o.eq[e.Name] = e
	}
	for _, root := range o.roots() {
		o.visit(root)
	}
	o.unwritten()
	o.prune()
}

// unwritten refuses a state without an equation that nothing reads either; one
// that is read was refused there.
func (o *orderer) unwritten() {
	for _, s := range o.b.SymSeq {
		if s.Kind == State && o.b.Time == tokenTime && o.eq[s.Name] == nil && !o.used[s.Name] && o.b.Zeroed[s.Name] == nil {
			o.in.ds.Errorf(diag.MissingEquation, s.Span, "state %s has no equation", s.Name).
				Hint("say how it changes: %s_t = …, or leave it out", s.Name)
		}
	}
}

type orderer struct {
	in    *instancer
	b     *Block
	eq    map[string]*Equation
	class map[string]Class
	mark  map[string]int // 1 on the way, 2 done
	out   []*Equation
	used  map[string]bool
	stack []*Equation
	at    notation.Span // of the name that is being followed
}

// roots are the equations that must exist: the output of a rule is y, of a
// composition and an operation out, of an update every slot; a model keeps all.
func (o *orderer) roots() []*Equation {
	o.used = map[string]bool{}
	switch o.b.Unit.Kind {
	case notation.RuleUnit:
		return o.output("y")
	case notation.ComposeUnit, notation.OpUnit:
		return o.output("out")
	}
	return o.in.defs
}

func (o *orderer) output(name string) []*Equation {
	if e := o.eq[name]; e != nil {
		return []*Equation{e}
	}
	if o.b.Unit.Kind == notation.OpUnit && o.b.Symbols[name] != nil {
		return nil
	}
	o.in.ds.Errorf(diag.MissingEquation, o.b.Unit.Name.Span, "%s has no equation for its output %s", o.b.Name, name).
		Hint("end with a line that defines %s", name)
	return nil
}

func (o *orderer) visit(e *Equation) {
	switch o.mark[e.Name] {
	case 2:
		return
	case 1:
		o.cycle(e)
		return
	}
	o.mark[e.Name] = 1
	o.stack = append(o.stack, e)
	class := Static
	if e.Timed {
		class = Parallel
	}
	for _, r := range o.reads(e) {
		class = max(class, o.read(e, r))
	}
	if s := o.b.Symbols[e.Name]; s != nil && s.Kind == State {
		class = Step
	}
	if class > Static && !e.Timed && o.b.Time == tokenTime {
		if e.Iter != nil {
			o.in.ds.Errorf(diag.TimeSuffix, e.Iter.Name.Span, "%s", o.untimed(e)).Hint("write iterate %s from …", notation.At(e.Name, "_t"))
		} else {
			o.in.ds.Errorf(diag.TimeSuffix, e.Span(), "%s", o.untimed(e)).Hint("write %s = …", notation.At(e.Name, "_t"))
		}
	}
	e.Class = class
	o.class[e.Name] = class
	o.stack = o.stack[:len(o.stack)-1]
	o.mark[e.Name] = 2
	o.out = append(o.out, e)
}

// tokenTime is the letter of a rule's time.
const tokenTime = "t"

// A read is a name with the moment at which it is read.
type read struct {
	name  string
	now   bool
	first bool // at the start of the context: M_0
	span  notation.Span
}

// read follows one reference and returns the class it forces on its reader.
func (o *orderer) read(e *Equation, r read) Class {
	o.used[r.name], o.at = true, r.span
	sym := o.b.Symbols[r.name]
	if sym == nil {
		return Static
	}
	next := o.eq[r.name]
	switch {
	case sym.Kind == Anchor, sym.Kind == Snap:
		o.held(sym)
		return Step
	case r.first && o.b.Time == tokenTime && o.first(sym):
		return Step
	case !r.now && !r.first && sym.Kind != State && next != nil && o.b.Time == tokenTime && o.ofStates(next, nil):
		o.lagging(next)
		return Step
	}
	if sym.Kind == State {
		if next == nil {
			if o.b.Unit.Kind != notation.UpdateUnit {
				o.in.ds.Errorf(diag.MissingEquation, sym.Span, "state %s has no equation", r.name).
					See(r.span, "it is read here").Hint("say how it changes: %s = …", notation.At(r.name, "_t"))
			}
			return Step
		}
		if r.now && next.Name == e.Name && o.b.Time == tokenTime {
			o.cycle(e)
		} else if r.now && next.Name != e.Name {
			o.visit(next)
		} else if o.mark[next.Name] == 0 {
			o.later(next)
		}
		return Step
	}
	if next == nil {
		if sym.Kind == Input && o.b.Time == tokenTime {
			return Parallel
		}
		return Static
	}
	o.visit(next)
	return o.class[r.name]
}

// later visits the equation of a state that is read before this token's
// write: it does not have to come first.
func (o *orderer) later(e *Equation) { o.in.b.Eqs = append(o.in.b.Eqs, e) }

// cycle refuses an equation that needs itself, at the reading that closes the
// circle.
func (o *orderer) cycle(e *Equation) {
	d := o.in.ds.Errorf(diag.Cycle, o.at, "%s needs itself at the same moment", e.Name)
	through := o.stack[slices.Index(o.stack, e)+1:]
	if len(through) > 0 {
		d.See(e.Span(), "the equation of %s", e.Name)
		for _, s := range through[:len(through)-1] {
			d.See(s.Span(), "through %s", s.Name)
		}
	}
	if o.b.Time != "" {
		d.Hint("read one of them at %s−1", o.b.Time)
	}
}

// reads lists the names that an equation reads, the bodies of the functions it
// calls included. A case is decided first: an arm that is not taken reads
// nothing.
func (o *orderer) reads(e *Equation) []read {
	var out []read
	if e.Iter != nil {
		o.rounds(e.Iter, &out)
		return out
	}
	local := locals(nil, e.Def)
	if e.Def != nil {
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
	own := locals(nil, &notation.Define{With: it.With})
	own[it.Name.Text] = true
	o.exprs(it.Step, own, map[string]bool{}, out)
	for _, w := range it.With {
		o.exprs(w.Value, own, map[string]bool{}, out)
	}
}

// locals are names that do not mean the block's: parameters and with-names.
func locals(params []*notation.Param, d *notation.Define) map[string]bool {
	out := map[string]bool{}
	for _, p := range params {
		out[p.Name.Text] = true
	}
	if d != nil {
		for _, w := range d.With {
			out[w.Target.Name.Name.Text] = true
		}
	}
	return out
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
		case *notation.Case:
			if arm := o.b.Chosen(n); arm != nil {
				o.exprs(arm, local, calls, out)
				return false
			}
		case *notation.Call:
			if !o.b.known(n.Fun.Text) {
				o.function(n.Fun.Text, calls, out)
			}
			if s := o.b.Symbols[n.Fun.Text]; s != nil && s.Kind == Part {
				*out = append(*out, read{name: n.Fun.Text, now: true, span: n.Fun.Span})
			}
		case *notation.Ident:
			if local[n.Name.Text] {
				return true
			}
			name, time := o.b.Split(n.Name.Text)
			if local[name] || o.b.Symbols[name] == nil || o.b.Zeroed[name] != nil {
				if z := o.b.Zeroed[name]; z != nil {
					o.exprs(z, local, calls, out)
				}
				return true
			}
			zero := time == "0" || isZero(n.Time)
			now := n.Time == nil && !zero
			if s := o.b.Symbols[name]; s.Kind == State && o.b.Time == tokenTime && time != "" && time != tokenTime {
				now = false // at the moment of a window
			}
			*out = append(*out, read{name: name, now: now, first: zero, span: n.Span})
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
	local := locals(f.Params, f.Def)
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

// Chosen returns the arm of a case that the options select, or nil when it
// cannot be decided here.
func (b *Block) Chosen(c *notation.Case) notation.Expr {
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

// prune finishes the order: states read only before their write come last, and
// symbols that nothing reads are dropped.
func (o *orderer) prune() {
	for {
		late := slices.DeleteFunc(slices.Clone(o.in.b.Eqs), func(e *Equation) bool { return o.mark[e.Name] == 2 })
		o.in.b.Eqs = nil
		if len(late) == 0 {
			break
		}
		for _, e := range late {
			o.visit(e)
		}
	}
	o.in.b.Eqs = o.out
	for _, e := range o.out {
		if e.Gate != nil || e.Def != nil || e.Iter != nil {
			o.used[e.Name] = true
		}
	}
	o.initials()
	o.b.SymSeq = slices.DeleteFunc(o.b.SymSeq, func(s *Symbol) bool {
		keep := o.used[s.Name] || s.Kind == Input || s.Kind == Part || o.b.Unit.Kind == notation.OpUnit || o.b.Unit.Kind == notation.UpdateUnit || isKnob(o.b.Unit)
		if !keep {
			delete(o.b.Symbols, s.Name)
		}
		return !keep
	})
}

// initials keeps what the initial values of the used states read.
func (o *orderer) initials() {
	for _, s := range slices.Clone(o.b.SymSeq) {
		if s.Kind != State || !o.used[s.Name] || s.Decl == nil || s.Decl.Init == nil {
			continue
		}
		var rs []read
		o.exprs(s.Decl.Init, nil, map[string]bool{}, &rs)
		for _, r := range rs {
			o.used[r.name] = true
			if e := o.eq[r.name]; e != nil {
				o.visit(e)
				o.in.b.Eqs = o.out
			}
		}
	}
}

// Timed lists the names with moments that an equation reads, inputs too.
func Timed(b *Block, eq *Equation) []string {
	o := &orderer{b: b, used: map[string]bool{}}
	var out []string
	for _, r := range o.reads(eq) {
		s := b.Symbols[r.name]
		if e := b.Equation(r.name); s != nil && (s.Kind == State || s.Kind == Input || e != nil && e.Timed) {
			out = append(out, r.name)
		}
	}
	return out
}

// OfStates reports whether a name is defined from states and learned values
// alone.
func OfStates(b *Block, name string) bool {
	eq := b.Equation(name)
	if eq == nil {
		return false
	}
	for _, r := range Timed(b, eq) {
		if b.Symbols[r].Kind != State && !OfStates(b, r) {
			return false
		}
	}
	return true
}

// Reaches reports whether an equation depends on a name without passing
// through a state.
func Reaches(b *Block, from, to string) bool {
	if from == to {
		return true
	}
	eq := b.Equation(from)
	if eq == nil || b.Symbols[from] != nil && b.Symbols[from].Kind == State {
		return false
	}
	o := &orderer{b: b, used: map[string]bool{}}
	for _, r := range o.reads(eq) {
		if r.name != from && Reaches(b, r.name, to) {
			return true
		}
	}
	return false
}

// FreeAxis adds a free axis to a block: one that an operation's signature
// introduces.
func FreeAxis(b *Block, name string) *Axis {
	a := &Axis{Name: name, Size: shape.Sym(name), Free: true}
	b.Axes[name] = a
	b.AxisSeq = append(b.AxisSeq, a)
	return a
}
