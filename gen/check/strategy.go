package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A strategy is another way to compute a rule. Its page speaks of one chunk of
// tokens: `option C ≥ 1 = 32 per chunk` is how many, M° is a state where the
// chunk began, and `state g = 1 per chunk` begins anew with each. What the page
// defines replaces the rule's own equations; keys, values, gates and all else
// that has no state behind it stay the rule's.
//
// A rule is given a strategy by name, `rule Fast = InChunks(Slow, C = 16)`.
// The block of such a rule has the strategy's equations, and beside it stands
// the block of the rule that it computes: what is left over when the tokens of
// a call are cut into chunks is computed by that, and the two are held to each
// other.

// A Strategy is how a rule's block is computed in chunks.
type Strategy struct {
	Unit *notation.Unit // the strategy's page
	Rule *Block         // the rule, token by token
	Size *Option        // tokens of a chunk; never nil in a block without errors

	Frozen bool            // the rule, token by token, with its states read where the chunk began
	snaps  map[string]bool // which
}

// Length is how many tokens a chunk has.
func (s *Strategy) Length() int {
	n, _ := notation.Constant(s.Size.Value)
	return int(n)
}

// strategy gathers a rule that is computed by a strategy: the pages of the rule,
// then that of the strategy.
func (in *instancer) strategy(st *notation.Unit, at *notation.Apply, depth int) bool {
	if st.For != nil {
		in.notYet(st.For.Span, "for in the header of a strategy")
		return false
	}
	given, options := units.Bind(st, at.Args, in.ds)
	parts := units.PartsOf(st)
	switch {
	case len(parts) != 1 || parts[0].Type.Page.Text != "Rule":
		in.ds.Errorf(diag.BadPart, st.Name.Span, "a strategy computes one rule, and %s", units.PartList(st)).
			Hint("write strategy %s(memory : Rule)", st.Name.Text)
		return false
	case len(given) != 1:
		if !in.ds.HasErrors() {
			in.ds.Errorf(diag.BadPart, at.Span, "%s computes a rule, and none is given", st.Name.Text).Hint("write the name of a rule in the parentheses")
		}
		return false
	}
	a := given[0].Apply
	rule := in.page(a, notation.RuleUnit)
	if rule == nil {
		return false
	}
	with := slices.Concat(rule.With, slices.DeleteFunc(slices.Concat(in.below, in.with), func(o *notation.Override) bool { return units.HasOption(st, o.Name.Text) }))
	seq := instantiate(in.tree, rule, in.b.Name, a.Args, with, in.ds, in.redefinitions()...)
	if seq == nil || in.ds.HasErrors() {
		return false
	}
	if seq.Strategy != nil {
		in.ds.Errorf(diag.WrongPageKind, a.Span, "%s has a strategy already", a.Name.Text).See(rule.Name.Span, "given here")
		return false
	}
	for _, s := range seq.SymSeq {
		if s.Kind == Snap {
			in.ds.Errorf(diag.NotSupported, a.Span, "%s reads %s where its call began, and a strategy cuts the call into chunks", a.Name.Text, s.Of).
				See(s.Span, "read here")
			return false
		}
	}
	in.b.Strategy = &Strategy{Unit: st, Rule: seq}
	in.below = append(in.below, rule.With...)
	own, before := in.b.Unit, len(in.srcs)
	if !in.gather(rule, a.Args, a, depth+1) {
		return false
	}
	in.b.Unit = own
	if in.sharesOption(st, in.srcs[before:], a) {
		return false
	}
	var states []string
	for _, s := range seq.SymSeq {
		if s.Kind == State && !s.PerChunk() {
			states = append(states, s.Name)
		}
	}
	st = expand.Strategy(st, states, in.srcs)
	in.b.Strategy.Unit = st
	if !in.matched(at.Name.Span) {
		return false
	}
	in.srcs = append(in.srcs, expand.Source{Unit: st, Body: st.Body, Set: options})
	return true
}

// redefinitions are the lines of the pages on the way to a strategy that redefine something of its
// rule: they hold for the rule token by token too.
func (in *instancer) redefinitions() (out []expand.Source) {
	for _, u := range slices.Backward(in.way) {
		s := expand.Source{Unit: u}
		for _, st := range u.Body {
			d, ok := st.(*notation.Declare)
			if ok && !slices.ContainsFunc(d.Names, func(n *notation.DeclName) bool { return !Redefines(d.Keyword.Text, n) }) {
				s.Body = append(s.Body, d)
			}
		}
		out = append(out, s)
	}
	return out
}

// sharesOption refuses a rule one of whose axes or options has the name of an option of
// its strategy: one word would be two sizes.
func (in *instancer) sharesOption(st *notation.Unit, pages []expand.Source, a *notation.Apply) bool {
	for _, s := range pages {
		for _, n := range expand.SizeNames(s.Body) {
			if units.HasOption(st, n.Text) {
				in.ds.Errorf(diag.DuplicateName, a.Span, "%s is an option of %s and a size of %s", n.Text, st.Name.Text, a.Name.Text).
					See(n.Span, "the size").Hint("give the size of the rule another name")
				return true
			}
		}
	}
	return false
}

// chunkOption finds the option that counts the tokens of a chunk and fixes it.
func (in *instancer) chunkOption() {
	s := in.b.Strategy
	if s == nil {
		return
	}
	for _, st := range s.Unit.Body {
		d, ok := st.(*notation.Declare)
		if !ok || d.Keyword.Text != "option" {
			continue
		}
		for _, n := range d.Names {
			if attribute(n, "per chunk") == nil {
				continue
			}
			s.Size = in.b.Options[n.Name.Text]
		}
	}
	if s.Size == nil {
		in.ds.Errorf(diag.MissingEquation, s.Unit.Name.Span, "%s does not say how many tokens a chunk has", s.Unit.Name.Text).
			Hint("write option C ≥ 1 = 32 per chunk")
		return
	}
	if slices.Contains(in.fractions, s.Size) {
		return // said where it counts
	}
	if n, ok := notation.Constant(s.Size.Value); !ok || n < 1 || n != math.Trunc(n) || n > MaxChunk {
		in.ds.Errorf(diag.BadOption, s.Size.Value.Where(), "option %s is the number of tokens of a chunk, and %s is not an integer between 1 and %d",
			s.Size.PageName(), notation.Print(s.Size.Value, notation.Unicode), MaxChunk).See(s.Size.Decl.Span, "declared here").
			Hint("a chunk has a number for each pair of its tokens: longer ones than 64 or 128 gain nothing")
		s.Size = nil
		return
	}
	s.Size.Static = true
}

// perChunk refuses a state of a strategy that outlives the chunk: what the next
// one begins with is the rule's business.
func (in *instancer) perChunk(s *notation.Declare) {
	for _, n := range s.Names {
		if attribute(n, "per chunk") == nil {
			in.ds.Errorf(diag.NotSupported, n.Span, "a state of a strategy begins anew with each chunk").Hint("write state %s … per chunk", n.Name.Text)
		}
	}
}

// ownStatement reports whether a statement about a whole page belongs to this
// block: where a strategy computes the rule, what the rule's pages claim is
// theirs.
func (in *instancer) ownStatement(u *notation.Unit) bool {
	s := in.b.Strategy
	return s == nil || u == s.Unit || u == in.b.Unit
}

// replaces takes out the rule's equation of a name that the strategy defines.
func (in *instancer) replaces(u *notation.Unit, name string) {
	if s := in.b.Strategy; s == nil || u != s.Unit {
		return
	}
	in.defs = slices.DeleteFunc(in.defs, func(e *Equation) bool { return e.Name == name && e.Unit != u })
	if sym := in.b.Symbols[name]; sym != nil && sym.Kind == Defined {
		delete(in.b.Symbols, name)
		in.b.SymSeq = slices.DeleteFunc(in.b.SymSeq, func(s *Symbol) bool { return s == sym })
	}
}

// WithChunks resolves a rule that a strategy computes, with chunks of n tokens
// whatever its formula says.
func WithChunks(t *units.Tree, u *notation.Unit, n int) (*Block, diag.List) {
	b, ds := Instantiate(t, u)
	if b == nil || ds.HasErrors() || b.Strategy == nil {
		return b, ds
	}
	name := b.Strategy.Size.Decl.Name
	v := *u
	f := *u.Formula
	a := *f.Parts[0]
	a.Args = slices.DeleteFunc(slices.Clone(a.Args), func(o *notation.Override) bool { return o.Name.Text == name.Text })
	a.Args = append(a.Args, &notation.Override{Span: name.Span, Name: name, Value: &notation.Number{Span: name.Span, Value: float64(n)}})
	f.Parts = append([]*notation.Apply{&a}, f.Parts[1:]...)
	v.Formula = &f
	return Instantiate(t, &v)
}

// AllEquations are the equations of a block and, where a strategy computes it, those of
// its rule that compute the tokens behind the last chunk and nothing else.
func (b *Block) AllEquations() []*Equation {
	all := slices.Clone(b.Eqs)
	if b.Strategy == nil {
		return all
	}
	for _, eq := range b.Strategy.Rule.Eqs {
		if b.Equation(eq.Name) == nil {
			all = append(all, eq)
		}
	}
	return all
}

// freeze rewrites the rule's equations for a strategy that freezes reads. If the strategy
// has no equations, the rule goes on token by token with a copy of its states from the
// start of the chunk; otherwise the strategy computes the whole chunk, and may read all
// that the rule computes from frozen reads.
func (in *instancer) freeze() {
	s := in.b.Strategy
	if s == nil {
		return
	}
	if s.snaps = expand.Freeze(in.srcs, s.Unit, in.ds); s.snaps != nil {
		s.Frozen = !slices.ContainsFunc(s.Unit.Body, func(st notation.Stmt) bool { d, ok := st.(*notation.Define); return ok && !d.Read && !d.Match })
	}
}

// snaps declares the states where the chunk began that frozen reads need.
func (in *instancer) snaps() {
	if in.b.Strategy == nil {
		return
	}
	for _, s := range slices.Clone(in.b.SymSeq) {
		if name := s.Name + "°"; in.b.Strategy.snaps[s.Name] && in.b.Symbols[name] == nil {
			in.symbol(&Symbol{Name: name, Kind: Snap, Of: s.Name, Type: s.Type, Span: s.Span, Unit: s.Unit})
		}
	}
}

// Approximate reports whether a strategy freezes reads, so that it is not the
// rule but for chunks of one token.
func (s *Strategy) Approximate() bool { return len(s.snaps) > 0 }
