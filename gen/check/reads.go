package check

import (
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// What an equation reads, from its text alone: names with their times, through the
// functions that it calls.

// A reader finds what the equations of a block read.
type reader struct {
	b      *Block
	anyArm bool // an arm of a case that is not chosen reads something too
}

// A read is a name with the time at which it is read.
type read struct {
	name    string
	now     bool // at this token
	start   bool // at the start of the context: M_0
	indexed bool // at a time that an index binds
	span    notation.Span
}

// reads lists the names that an equation reads, with those in the bodies of the functions
// that it calls. A case is decided first: an arm that is not chosen reads nothing.
func (rd reader) reads(e *Equation) []read {
	var out []read
	if e.Matched {
		return rd.matched(e)
	}
	if e.Iter != nil {
		rd.rounds(e.Iter, &out)
		return out
	}
	local := notation.Locals(nil, e.Def)
	if e.Def != nil {
		notation.Bind(local, e.Def.Target.Index)
		if _, solve := e.Def.Value.(*notation.Solve); solve { // an unknown occurs in its own equation
			local[e.Def.Target.Name.Name.Text] = true
		}
	}
	rd.exprs(e.Value(), local, map[string]bool{}, &out)
	if e.Def != nil {
		for _, w := range e.Def.With {
			rd.exprs(w.Value, local, map[string]bool{}, &out)
		}
	}
	if e.Gate != nil && e.Gate.Within != nil {
		rd.exprs(e.Gate.Within.Lo, nil, map[string]bool{}, &out)
		rd.exprs(e.Gate.Within.Hi, nil, map[string]bool{}, &out)
	}
	return out
}

// rounds lists what an iteration reads. From the first round on its name is local.
func (rd reader) rounds(it *notation.Iterate, out *[]read) {
	rd.exprs(it.From, nil, map[string]bool{}, out)
	rd.exprs(it.Count, nil, map[string]bool{}, out)
	own := notation.Locals(nil, &notation.Define{With: it.With})
	own[it.Name.Text] = true
	if it.Index != nil {
		own[it.Index.Text] = true
	}
	rd.exprs(it.Step, own, map[string]bool{}, out)
	for _, w := range it.With {
		rd.exprs(w.Value, own, map[string]bool{}, out)
	}
}

func (rd reader) exprs(e notation.Expr, local, calls map[string]bool, out *[]read) {
	notation.Inspect(e, func(n any) bool {
		switch n := n.(type) {
		case *notation.Reduce: // what an index runs over has axes only
			in := maps.Clone(local)
			if in == nil {
				in = map[string]bool{}
			}
			notation.Bind(in, n.Binders)
			rd.conditions(n.Binders, in, calls, out)
			rd.exprs(n.Body, in, calls, out)
			rd.exprs(n.Empty, local, calls, out)
			return false
		case *notation.Case:
			if arm := rd.b.ChosenArm(n); arm != nil && !rd.anyArm {
				rd.exprs(arm, local, calls, out)
				return false
			}
		case *notation.Call:
			if !rd.b.known(n.Fun.Text) {
				rd.function(n.Fun.Text, calls, out)
			}
			if s := rd.b.Symbols[n.Fun.Text]; s != nil && s.Kind == Part {
				*out = append(*out, read{name: n.Fun.Text, now: true, span: n.Fun.Span})
				if l := rd.b.LevelsOf(n.Fun.Text); l != nil && rd.b.Symbols[l.Gate] != nil {
					*out = append(*out, read{name: l.Gate, now: true, span: l.Span})
				}
			}
		case *notation.Ident:
			if hides, is := local[n.Name.Text]; is && (hides || n.Time == nil) {
				return true
			}
			name, time := rd.b.Split(n.Name.Text)
			if z, inside := rd.b.Replaced[name], "with "+name; z != nil && !local[name] && !calls[inside] {
				calls[inside] = true
				rd.exprs(z, local, calls, out)
				delete(calls, inside)
				return true
			}
			if local[name] || rd.b.Symbols[name] == nil {
				return true
			}
			zero := time == "0" || isZero(n.Time)
			now := n.Time == nil && !zero
			if s := rd.b.Symbols[name]; s.Kind == State && rd.b.Time == notation.TokenTime && time != "" && time != notation.TokenTime {
				now = false // at a token of a window
			}
			at := time != "" && time != notation.TokenTime && !zero
			*out = append(*out, read{name: name, now: now, start: zero, indexed: at, span: n.Span})
		}
		return true
	})
}

// conditions lists what the conditions of indices read.
func (rd reader) conditions(bs []*notation.Binder, local, calls map[string]bool, out *[]read) {
	for _, b := range bs {
		rd.exprs(b.Cond, local, calls, out)
		rd.conditions(b.Tuple, local, calls, out)
	}
}

func (rd reader) function(name string, calls map[string]bool, out *[]read) {
	f := rd.b.Funcs[name]
	if f == nil || calls[name] {
		return
	}
	calls[name] = true
	local := notation.Locals(f.Params, f.Def)
	for _, p := range f.Params {
		rd.axes(f, p.Type, local)
	}
	rd.exprs(f.Def.Value, local, calls, out)
	for _, w := range f.Def.With {
		rd.exprs(w.Value, local, calls, out)
	}
}

// axes adds the axes that a signature introduces to the local names.
func (rd reader) axes(f *Function, t *notation.Type, local map[string]bool) {
	if t == nil {
		return
	}
	for id := range notation.Of[*notation.Ident](t.Shape) {
		if f.Block == nil || rd.b.AxisFor(f.Unit, id.Name.Text) == nil {
			local[id.Name.Text] = true
		}
	}
}

// TimedReads lists the names with a time that an equation reads, inputs included.
func (b *Block) TimedReads(eq *Equation) []string {
	rd := reader{b: b}
	var out []string
	for _, r := range rd.reads(eq) {
		s := b.Symbols[r.name]
		if e := b.Equation(r.name); s != nil && (s.Kind == State || s.Kind == Input || e != nil && e.Timed) {
			out = append(out, r.name)
		}
	}
	return out
}

// FromStates reports whether a name is defined from states and learned values alone.
func (b *Block) FromStates(name string) bool {
	eq := b.Equation(name)
	return eq != nil && reader{b: b}.fromStates(eq, b.Equation, nil)
}

// fromStates reports whether an equation depends on states and learned values alone, directly
// or through other equations. An equation that depends on itself does not.
func (rd reader) fromStates(e *Equation, equation func(name string) *Equation, above []*Equation) bool {
	if slices.Contains(above, e) {
		return false
	}
	for _, r := range rd.reads(e) {
		sym, next := rd.b.Symbols[r.name], equation(r.name)
		switch {
		case sym == nil || sym.Kind == State || sym.Kind == Anchor || sym.Kind == Snap:
		case sym.Kind == Input, next != nil && !rd.fromStates(next, equation, append(above, e)):
			return false
		}
	}
	return true
}

// DependsOn reports whether the equation of a name depends on another name, not through a
// state.
func (b *Block) DependsOn(from, to string) bool {
	if from == to {
		return true
	}
	eq := b.Equation(from)
	if eq == nil || b.Symbols[from] != nil && b.Symbols[from].Kind == State {
		return false
	}
	rd := reader{b: b}
	for _, r := range rd.reads(eq) {
		if r.name != from && b.DependsOn(r.name, to) {
			return true
		}
	}
	return false
}

// SnapRead is a snap that an equation reads, directly or through other equations, or nil.
func (b *Block) SnapRead(eq *Equation) *Symbol {
	rd := reader{b: b}
	for _, r := range rd.reads(eq) {
		s := b.Symbols[r.name]
		if s != nil && s.Kind == Snap {
			return s
		}
		if e := b.Equation(r.name); e != nil && e != eq && s != nil && s.Kind == Defined {
			if s := b.SnapRead(e); s != nil {
				return s
			}
		}
	}
	return nil
}

// ReadTimes reports whether the output of a rule reads states before the write of the
// token, and after it. A state per chunk that is read after its write counts as both, since
// no memory keeps it.
func (b *Block) ReadTimes() (before, after bool) {
	m := &timeReader{reader: reader{b: b}, seen: map[string]bool{}}
	m.visit("y", false)
	return m.before, m.after
}

type timeReader struct {
	reader
	before, after bool
	seen          map[string]bool
}

// visit follows an equation; lagging is true if it is read at t−1.
func (m *timeReader) visit(name string, lagging bool) {
	e := m.b.Equation(name)
	key := name
	if lagging {
		key += " before"
	}
	if e == nil || m.seen[key] {
		return
	}
	m.seen[key] = true
	for _, r := range m.reads(e) {
		s := m.b.Symbols[r.name]
		switch {
		case s == nil || r.start || s.Kind == Anchor:
		case s.Kind == Snap:
			m.before = true
		case s.Kind == State && (lagging || !r.now):
			m.before = m.before || !s.PerChunk()
		case s.Kind == State:
			m.after, m.before = true, m.before || s.PerChunk()
		default:
			m.visit(r.name, lagging || !r.now)
		}
	}
}
