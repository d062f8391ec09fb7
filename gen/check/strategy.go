package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A strategy is another way to compute a rule. Its page is about one chunk of tokens:
// `option C ≥ 1 = 32 per chunk` is their number, M° is a state at the start of the chunk,
// and `state g = 1 per chunk` begins again with each. The equations of the page replace
// those of the rule; keys, values, gates and all else that depends on no state stay the
// rule's.
//
// A rule is given a strategy by name, `rule Fast = InChunks(Slow, C = 16)`. Its block has
// the equations of the strategy, and refers to the block of the rule that it computes: that
// computes the tokens after the last whole chunk, and the two are tested against each other.

// A Strategy is how a rule's block is computed in chunks.
type Strategy struct {
	Unit *notation.Unit // the strategy's page
	Rule *Block         // the rule, token by token
	Size *Option        // tokens of a chunk; never nil in a block without errors

	Frozen bool            // the rule is computed token by token, with states read at the start of the chunk
	snaps  map[string]bool // the states that are read at the start of the chunk
}

// Length is the number of tokens of a chunk.
func (s *Strategy) Length() int {
	n, _ := notation.Constant(s.Size.Value)
	return int(n)
}

// Approximate reports whether a strategy freezes reads, so that it equals the rule only for
// chunks of one token.
func (s *Strategy) Approximate() bool { return len(s.snaps) > 0 }

// strategy gathers the pages of a rule that a strategy computes, then that of the strategy.
func (r *resolver) strategy(st *notation.Unit, at *notation.Apply, depth int) bool {
	if st.For != nil {
		r.notYet(st.For.Span, "for in the header of a strategy")
		return false
	}
	given, options := units.Bind(st, at.Args, r.ds)
	parts := units.PartsOf(st)
	switch {
	case len(parts) != 1 || parts[0].Type.Page.Text != "Rule":
		r.ds.Errorf(diag.BadPart, st.Name.Span, "a strategy computes one rule, and %s", units.PartList(st)).
			Hint("write strategy %s(memory : Rule)", st.Name.Text)
		return false
	case len(given) != 1:
		if !r.ds.HasErrors() {
			r.ds.Errorf(diag.BadPart, at.Span, "%s computes a rule, which is not given", st.Name.Text).Hint("write the name of a rule in the parentheses")
		}
		return false
	}
	a := given[0].Apply
	rule := r.page(a, notation.RuleUnit)
	if rule == nil {
		return false
	}
	with := slices.Concat(rule.With, slices.DeleteFunc(slices.Concat(r.inherited, r.with), func(o *notation.Override) bool { return units.HasOption(st, o.Name.Text) }))
	seq := instantiate(r.tree, rule, r.b.Name, a.Args, with, r.ds, r.redefinitions()...)
	if seq == nil || r.ds.HasErrors() {
		return false
	}
	if seq.Strategy != nil {
		r.ds.Errorf(diag.WrongPageKind, a.Span, "%s has a strategy already", a.Name.Text).See(rule.Name.Span, "given here")
		return false
	}
	for _, s := range seq.SymSeq {
		if s.Kind == Snap {
			r.ds.Errorf(diag.NotSupported, a.Span, "%s reads %s where its call began, and a strategy cuts the call into chunks", a.Name.Text, s.Of).
				See(s.Span, "read here")
			return false
		}
	}
	r.b.Strategy = &Strategy{Unit: st, Rule: seq}
	r.inherited = append(r.inherited, rule.With...)
	own, before := r.b.Unit, len(r.srcs)
	if !r.gather(rule, a.Args, a, depth+1) {
		return false
	}
	r.b.Unit = own
	if r.sharesOption(st, r.srcs[before:], a) {
		return false
	}
	var states []string
	for _, s := range seq.SymSeq {
		if s.Kind == State && !s.PerChunk() {
			states = append(states, s.Name)
		}
	}
	st = expand.Strategy(st, states, r.srcs)
	r.b.Strategy.Unit = st
	if !r.checkMatchedStates(at.Name.Span) {
		return false
	}
	r.srcs = append(r.srcs, expand.Source{Unit: st, Body: st.Body, Set: options})
	return true
}

// redefinitions are the lines of the pages on the path to a strategy that redefine
// something of its rule: they also hold for the rule's own block.
func (r *resolver) redefinitions() (out []expand.Source) {
	for _, u := range slices.Backward(r.path) {
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

// sharesOption refuses a rule with an axis or option of the name of an option of its
// strategy.
func (r *resolver) sharesOption(st *notation.Unit, pages []expand.Source, a *notation.Apply) bool {
	for _, s := range pages {
		for _, n := range expand.SizeNames(s.Body) {
			if units.HasOption(st, n.Text) {
				r.ds.Errorf(diag.DuplicateName, a.Span, "%s is an option of %s and a size of %s", n.Text, st.Name.Text, a.Name.Text).
					See(n.Span, "the size").Hint("give the size of the rule another name")
				return true
			}
		}
	}
	return false
}

// chunkOption finds the option for the number of tokens of a chunk and makes it static.
func (r *resolver) chunkOption() {
	s := r.b.Strategy
	if s == nil {
		return
	}
	for n := range notation.Declared(s.Unit.Body, "option") {
		if attribute(n, "per chunk") != nil {
			s.Size = r.b.Options[n.Name.Text]
		}
	}
	if s.Size == nil {
		r.ds.Errorf(diag.MissingEquation, s.Unit.Name.Span, "%s does not say how many tokens a chunk has", s.Unit.Name.Text).
			Hint("write option C ≥ 1 = 32 per chunk")
		return
	}
	if slices.Contains(r.badCounts, s.Size) {
		return // already reported
	}
	if n, ok := notation.Constant(s.Size.Value); !ok || n < 1 || n != math.Trunc(n) || n > MaxChunk {
		r.ds.Errorf(diag.BadOption, s.Size.Value.Where(), "option %s is the number of tokens of a chunk, and %s is not an integer between 1 and %d",
			s.Size.PageName(), notation.Print(s.Size.Value, notation.Unicode), MaxChunk).See(s.Size.Decl.Span, "declared here").
			Hint("a chunk has a number for each pair of its tokens: longer ones than 64 or 128 gain nothing")
		s.Size = nil
		return
	}
	s.Size.Static = true
}

// checkPerChunk refuses a state of a strategy that outlives the chunk.
func (r *resolver) checkPerChunk(s *notation.Declare) {
	for _, n := range s.Names {
		if attribute(n, "per chunk") == nil {
			r.ds.Errorf(diag.NotSupported, n.Span, "a state of a strategy is reset at each chunk").Hint("write state %s … per chunk", n.Name.Text)
		}
	}
}

// WithChunks resolves a rule that a strategy computes, with chunks of n tokens instead of
// what its formula says.
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

// freeze rewrites the rule's equations for a strategy that freezes reads. If the strategy
// has no equations, the rule goes on token by token with a copy of its states from the
// start of the chunk; otherwise the strategy computes the whole chunk, and may read all
// that the rule computes from frozen reads.
func (r *resolver) freeze() {
	s := r.b.Strategy
	if s == nil {
		return
	}
	if s.snaps = expand.Freeze(r.srcs, s.Unit, r.ds); s.snaps != nil {
		s.Frozen = !slices.ContainsFunc(s.Unit.Body, func(st notation.Stmt) bool { d, ok := st.(*notation.Define); return ok && !d.Read && !d.Match })
	}
}

// declareSnaps declares the snaps that frozen reads need.
func (r *resolver) declareSnaps() {
	if r.b.Strategy == nil {
		return
	}
	for _, s := range slices.Clone(r.b.SymSeq) {
		if name := s.Name + "°"; r.b.Strategy.snaps[s.Name] && r.b.Symbols[name] == nil {
			r.symbol(&Symbol{Name: name, Kind: Snap, Of: s.Name, Type: s.Type, Span: s.Span, Unit: s.Unit})
		}
	}
}
