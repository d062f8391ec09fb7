package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check/expand"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// A rule may say anew what its front, or the rule that it is another form of, says
// of a gate, and with what a learned parameter starts:
//
//	gate ρ ∈ (0,1) = …      the gate's whole declaration is replaced
//	outer b_θ = −1          the start alone; type and attributes stay
//
// An outer with a type declares a parameter, so a rule takes none of its front by
// accident. Any other name is replaced behind the header, with name := e. A line that
// redefines something that is not there, or that nothing reads, is refused: it would
// change nothing.

// Redefines reports whether a line of a rule may say something anew.
func Redefines(keyword string, n *notation.DeclName) bool {
	return keyword == "gate" || keyword == "outer" && n.Type == nil && starts(n)
}

func starts(n *notation.DeclName) bool { return n.Init != nil || n.Dist != nil || n.ByLevel != nil }

// asRedefined is what a block takes of a declared name: the name itself, one with
// another start, or nothing, where the line is said elsewhere.
func (in *instancer) asRedefined(u *notation.Unit, keyword string, n *notation.DeclName) *notation.DeclName {
	at := slices.IndexFunc(in.srcs, func(s expand.Source) bool { return s.Unit == u })
	if at < 0 || u.Kind != notation.FrontUnit && u.Kind != notation.RuleUnit {
		return n
	}
	if u.Kind == notation.RuleUnit && keyword == "outer" && Redefines(keyword, n) && in.says(in.srcs[:at], keyword, n.Name.Text, false) != nil {
		for _, a := range n.Attrs {
			in.ds.Errorf(diag.NotSupported, a.Span, "%s of %s is said where it is declared, and this line gives it another start", a.Text, n.Name.Text).Hint("take it away")
		}
		return nil
	}
	again := in.says(in.srcs[at+1:], keyword, n.Name.Text, true)
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

// says is the last line of some pages that declares a name: of rules that may say it
// anew, or of any that may be what a rule says anew.
func (in *instancer) says(srcs []expand.Source, keyword, name string, anew bool) (out *notation.DeclName) {
	for _, s := range srcs {
		if s.Unit.Kind != notation.RuleUnit && (anew || s.Unit.Kind != notation.FrontUnit) {
			continue
		}
		for _, st := range s.Body {
			d, ok := st.(*notation.Declare)
			if !ok || d.Keyword.Text != keyword || !in.kept(d.When) {
				continue
			}
			for _, n := range d.Names {
				if n.Name.Text == name && Redefines(keyword, n) == anew || n.Name.Text == name && keyword == "gate" {
					out = n
				}
			}
		}
	}
	return out
}

// unusedRedefinitions refuses lines of the rule itself that redefine something and change nothing: a
// start of a parameter that is not there, and gates and starts that nothing reads. An
// arm of a case that is not taken counts as a reader.
func (in *instancer) unusedRedefinitions(u *notation.Unit) {
	last := len(in.srcs) - 1
	if u.Kind != notation.RuleUnit || last < 1 {
		return // it stands on no other page
	}
	below, read := in.srcs[:last], in.readers()
	for _, st := range in.srcs[last].Body {
		d, ok := st.(*notation.Declare)
		if !ok || !in.kept(d.When) {
			continue
		}
		for _, n := range d.Names {
			name, word := n.Name.Text, d.Keyword.Text
			if _, member := notation.CutMember(name); member != "" || !Redefines(word, n) || read[name] {
				continue
			}
			switch old := in.says(below, word, name, false); {
			case old != nil:
				d := in.ds.Errorf(diag.ChangesNothing, n.Name.Span, "%s is redefined here, and nothing in %s reads it", name, u.Name.Text).See(old.Span, "what it redefines")
				if gate := in.replaced(below, name); gate != nil {
					d.See(gate.Span, "%s, which replaces what read it", gate.Name.Text)
				}
				d.Hint("remove the line")
			case word == "gate":
				d := in.ds.Errorf(diag.ChangesNothing, n.Name.Span, "nothing in %s reads the gate %s", u.Name.Text, name)
				units.Suggest(d, name, in.redefinable(below, word))
			case in.b.Symbols[name].Decl == n:
				d := in.ds.Errorf(diag.UnknownName, n.Name.Span, "%s has no parameter %s that could start from something else", u.Name.Text, name)
				if near := ident.Nearest(name, in.redefinable(below, word)); near != "" {
					d.Hint("did you mean %s?", near)
				} else {
					d.Hint("a parameter of the rule's own has a type: outer %s ∈ ℝ = …", name)
				}
			}
		}
	}
}

// readers are the names that the answers of a rule may depend on, whatever its options
// say.
func (in *instancer) readers() map[string]bool {
	o := newOrderer(in)
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
		if s := in.b.Symbols[name]; s != nil && s.Of != "" {
			visit(s.Of)
		} else if s != nil && s.Kind == State && s.Decl != nil {
			o.exprs(s.Decl.Init, nil, map[string]bool{}, &rs)
		}
		for _, r := range rs {
			visit(r.name)
		}
	}
	visit("y")
	if s := in.b.Strategy; s != nil {
		for name := range s.Rule.Symbols {
			seen[name] = true
		}
	}
	return seen
}

// redefinable are the names that a keyword declares on pages which a rule may redefine.
func (in *instancer) redefinable(srcs []expand.Source, keyword string) (out []string) {
	in.eachRedefinable(srcs, keyword, func(n *notation.DeclName) { out = append(out, n.Name.Text) })
	return out
}

// replaced is a gate of the rule in the place of one that reads a name, or nil.
func (in *instancer) replaced(below []expand.Source, name string) (out *notation.DeclName) {
	in.eachRedefinable(below, "gate", func(n *notation.DeclName) {
		if n.Init == nil || !mentions(n.Init, in.b, name) {
			return
		}
		if s := in.b.Symbols[n.Name.Text]; s != nil && s.Decl != nil && s.Decl != n {
			out = s.Decl
		}
	})
	return out
}

func (in *instancer) eachRedefinable(srcs []expand.Source, keyword string, f func(*notation.DeclName)) {
	for _, s := range srcs {
		if s.Unit.Kind != notation.RuleUnit && s.Unit.Kind != notation.FrontUnit {
			continue
		}
		for _, st := range s.Body {
			if d, ok := st.(*notation.Declare); ok && d.Keyword.Text == keyword && in.kept(d.When) {
				for _, n := range d.Names {
					f(n)
				}
			}
		}
	}
}

// twice refuses a second declaration or equation of a name.
func (in *instancer) twice(at notation.Span, name, what string, old *Symbol, by *notation.Unit) {
	d := in.ds.Errorf(diag.DuplicateName, at, "%s is %s twice", name, what).See(old.Span, "first %s here", what)
	if old.Unit == nil || by == nil || by.Kind != notation.RuleUnit || old.Unit.Kind != notation.FrontUnit {
		return
	}
	switch {
	case what == "declared" && old.Kind == Outer:
		d.Hint("to start the parameter of %s from something else, give it a start and no type: outer %s = …; for one of your own, choose another name", old.Unit.Name.Text, name)
	case old.Kind == Defined:
		d.Hint("choose another name, or replace the one of %s behind the header: over %s with %s := …", old.Unit.Name.Text, old.Unit.Name.Text, name)
	}
}
