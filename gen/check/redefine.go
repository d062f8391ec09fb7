package check

import (
	"iter"
	"slices"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A rule may redefine a gate of its front, or of the rule that it is another form of, and
// the start of a learned parameter, which may be its structure's too:
//
//	gate ρ ∈ (0,1) = …      the whole declaration of the gate is replaced
//	outer b_θ = −1          the start alone; type and attributes stay
//
// An outer with a type declares a parameter, so a rule takes none of its front by accident.
// Any other name is replaced in the header, with name := e. A line that redefines something
// that does not exist, or that nothing reads, is refused.

// Redefines reports whether a line of a rule may redefine something.
func Redefines(keyword string, n *notation.DeclName) bool {
	return keyword == "gate" || keyword == "outer" && n.Type == nil && hasStart(n)
}

func hasStart(n *notation.DeclName) bool { return n.Init != nil || n.Dist != nil || n.ByLevel != nil }

// redefined is what a block takes of a declared name: the name itself, the name with
// another start, or nil if another line declares it.
func (r *resolver) redefined(u *notation.Unit, keyword string, n *notation.DeclName) *notation.DeclName {
	at := slices.IndexFunc(r.srcs, func(s expand.Source) bool { return s.Unit == u })
	if at < 0 || !redefinableUnit(u) {
		return n
	}
	if u.Kind == notation.RuleUnit && keyword == "outer" && Redefines(keyword, n) && r.lastDeclaration(r.srcs[:at], keyword, n.Name.Text, false) != nil {
		for _, a := range n.Attrs {
			r.ds.Errorf(diag.NotSupported, a.Span, "%s of %s belongs to its declaration, and this line only changes its start", a.Text, n.Name.Text).Hint("take it away")
		}
		return nil
	}
	again := r.lastDeclaration(r.srcs[at+1:], keyword, n.Name.Text, true)
	if again == nil {
		return n
	}
	if keyword == "gate" {
		return nil
	}
	out := *n
	out.Init, out.Dist, out.ByLevel = again.Init, again.Dist, again.ByLevel
	return &out
}

// redefinableUnit reports whether a rule may redefine what a unit declares.
func redefinableUnit(u *notation.Unit) bool {
	return u.Kind == notation.RuleUnit || u.Kind == notation.FrontUnit || u.Kind == notation.StructUnit
}

// declared iterates over the names that the rules, fronts and structures among some sources
// declare with a keyword, each with its unit.
func (r *resolver) declared(srcs []expand.Source, keyword string) iter.Seq2[*notation.Unit, *notation.DeclName] {
	return func(yield func(*notation.Unit, *notation.DeclName) bool) {
		for _, s := range srcs {
			if !redefinableUnit(s.Unit) {
				continue
			}
			for d := range notation.Of[*notation.Declare](s.Body) {
				if d.Keyword.Text != keyword || !r.kept(d.When) {
					continue
				}
				for _, n := range d.Names {
					if !yield(s.Unit, n) {
						return
					}
				}
			}
		}
	}
}

// lastDeclaration is the last declaration of a name among some pages: if again, one by which
// a rule redefines it, otherwise one that a rule may redefine.
func (r *resolver) lastDeclaration(srcs []expand.Source, keyword, name string, again bool) (out *notation.DeclName) {
	for u, n := range r.declared(srcs, keyword) {
		if n.Name.Text == name && (!again || u.Kind == notation.RuleUnit) && (keyword == "gate" || Redefines(keyword, n) == again) {
			out = n
		}
	}
	return out
}

// unusedRedefinitions refuses lines of the rule itself that redefine something without
// effect: a start of a parameter that does not exist, and gates and starts that nothing
// reads. An arm of a case that is not chosen counts as a reader.
func (r *resolver) unusedRedefinitions(u *notation.Unit) {
	last := len(r.srcs) - 1
	if u.Kind != notation.RuleUnit || last < 1 {
		return // it is not a form of another page
	}
	below, read := r.srcs[:last], r.reachable()
	for d := range notation.Of[*notation.Declare](r.srcs[last].Body) {
		if !r.kept(d.When) {
			continue
		}
		for _, n := range d.Names {
			name, word := n.Name.Text, d.Keyword.Text
			if _, member := notation.CutMember(name); member != "" || !Redefines(word, n) || read[name] {
				continue
			}
			switch old := r.lastDeclaration(below, word, name, false); {
			case old != nil:
				d := r.ds.Errorf(diag.ChangesNothing, n.Name.Span, "%s is redefined here, and nothing in %s reads it", name, u.Name.Text).See(old.Span, "what it redefines")
				if gate := r.replacingGate(below, name); gate != nil {
					d.See(gate.Span, "%s, which replaces what read it", gate.Name.Text)
				}
				d.Hint("remove the line")
			case word == "gate":
				d := r.ds.Errorf(diag.ChangesNothing, n.Name.Span, "nothing in %s reads the gate %s", u.Name.Text, name)
				units.Suggest(d, name, r.redefinable(below, word))
			case r.b.Symbols[name].Decl == n:
				d := r.ds.Errorf(diag.UnknownName, n.Name.Span, "%s has no parameter %s that could start from something else", u.Name.Text, name)
				if near := ident.Nearest(name, r.redefinable(below, word)); near != "" {
					d.Hint("did you mean %s?", near)
				} else {
					d.Hint("a parameter of the rule's own has a type: outer %s ∈ ℝ = …", name)
				}
			}
		}
	}
}

// reachable are the names that the output of a rule may depend on for some values of its
// options.
func (r *resolver) reachable() map[string]bool {
	o := newOrderer(r)
	o.anyArm = true
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		var rs []read
		if e := o.eq[name]; e != nil {
			rs = o.reads(e)
		}
		if s := r.b.Symbols[name]; s != nil && s.Of != "" {
			visit(s.Of)
		} else if s != nil && s.Kind == State && s.Decl != nil {
			o.exprs(s.Decl.Init, nil, map[string]bool{}, &rs)
		}
		for _, r := range rs {
			visit(r.name)
		}
	}
	visit("y")
	if s := r.b.Strategy; s != nil {
		for name := range s.Rule.Symbols {
			seen[name] = true
		}
	}
	return seen
}

// redefinable are the names with a keyword on the pages of some sources that a rule may
// redefine.
func (r *resolver) redefinable(srcs []expand.Source, keyword string) (out []string) {
	for _, n := range r.declared(srcs, keyword) {
		out = append(out, n.Name.Text)
	}
	return out
}

// replacingGate is a gate of the rule that replaces one that reads a name, or nil.
func (r *resolver) replacingGate(below []expand.Source, name string) (out *notation.DeclName) {
	for _, n := range r.declared(below, "gate") {
		s := r.b.Symbols[n.Name.Text]
		if n.Init != nil && r.b.mentions(n.Init, name) && s != nil && s.Decl != nil && s.Decl != n {
			out = s.Decl
		}
	}
	return out
}
