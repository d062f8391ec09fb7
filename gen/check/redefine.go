package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A rule may say anew what its front, or the rule that it is another form of, says
// of a gate, and with what a learned parameter starts:
//
//	gate ρ ∈ (0,1) = …      the gate's whole declaration is replaced
//	outer b_θ = −1          the start alone; type and attributes stay
//
// An outer with a type declares a parameter, so a rule takes none of its front by
// accident. Any other name is replaced behind the header, with name := e.

// Redefines reports whether a line of a rule may say something anew.
func Redefines(keyword string, n *notation.DeclName) bool {
	return keyword == "gate" || keyword == "outer" && n.Type == nil && starts(n)
}

func starts(n *notation.DeclName) bool { return n.Init != nil || n.Dist != nil || n.ByLevel != nil }

// asRedefined is what a block takes of a declared name: the name itself, one with
// another start, or nothing, where the line is said elsewhere.
func (in *instancer) asRedefined(u *notation.Unit, keyword string, n *notation.DeclName) *notation.DeclName {
	at := slices.IndexFunc(in.srcs, func(s source) bool { return s.unit == u })
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
func (in *instancer) says(srcs []source, keyword, name string, anew bool) (out *notation.DeclName) {
	for _, s := range srcs {
		if s.unit.Kind != notation.RuleUnit && (anew || s.unit.Kind != notation.FrontUnit) {
			continue
		}
		for _, st := range s.body {
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
