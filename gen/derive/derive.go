// Package derive prints derived adjoints the way a page writes equations.
//
// The compiler differentiates programs, and a program is no proof that a
// person can follow. This package takes the adjoints of one step of a rule, or
// of an operation, and turns them back into the notation: bars for adjoints,
// products of matrices where an instruction is one, Σ and indices where it is
// none.
//
//	k̄_t = −θ_t M̄_tᵀ a − θ_t M_{t−1}ᵀ b
//	  with a = M_{t−1} k_t − v_t, b = M̄_t k_t
//
// What is printed is meant as a claim: it parses, it types, and both sides are
// the same number, which a test holds for all our pages. An adjoint may
// mention those above it; that of a state after the step is complete, so it
// already holds what the step's own output sends back.
//
// The work has three parts: the program of all adjoints with the names that
// its values have on the page (step.go), the form of a product (product.go),
// and everything entry by entry (entry.go). What a step reads in a window is
// written at one moment at a time (moment.go).
package derive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// An Equation is one derived line. A Partial one only says what the step adds
// to an adjoint that comes in, and is printed as a comment. So is one that
// holds what a part gives back: attention̄(X; ā) is what the part attention,
// called with X, gives back to X when its answer a has the adjoint ā.
type Equation struct {
	Left    notation.Expr // an adjoint, or an inner gradient
	Right   notation.Expr
	With    []*notation.Define
	Partial bool
	Shared  bool // of a value that is the same for all tokens and has an equation: what this token adds, of which no claim speaks
	Parts   bool // parts give back some of it
	Wide    bool // of a value that a window reads: what the step gives back to the present moment
}

// A Derivation is the backward of one unit.
type Derivation struct {
	open   bool // a composition or model
	calls  []irbuild.PartCall
	backs  map[*ir.Value]*notation.Call // what parts give back
	partly map[string]bool              // whose adjoints hold some of that

	windows []*ir.Axis // that the step looks back through

	Unit      *check.Block
	Given     []notation.Expr // adjoints that come in
	Gradients []Equation
	Adjoints  []Equation
}

// Of derives the backward of a block; nil means that a message was given.
func Of(b *check.Block, ds *diag.List) *Derivation {
	if b.Strategy != nil { // a chunk computes what the rule's steps do
		b = b.Strategy.Rule
	}
	d := &Derivation{Unit: b}
	switch b.Unit.Kind {
	case notation.RuleUnit:
		if !d.gradients(ds) || !d.step(ds) {
			return nil
		}
	case notation.OpUnit:
		if !d.gradients(ds) || !d.operation(ds) {
			return nil
		}
	case notation.ComposeUnit, notation.ModelUnit:
		if !d.gradients(ds) || !d.composition(ds) {
			return nil
		}
	default:
		ds.Errorf(diag.NotSupported, b.Unit.Name.Span, "%s is %s, which has no backward of its own", b.Name, units.KindName(b.Unit.Kind)).
			Hint("name a rule, an operation, a composition or a model")
		return nil
	}
	return d
}

// Text prints a derivation; every line that is no comment is an equation.
func (d *Derivation) Text(style notation.Style) string {
	var b strings.Builder
	var given []string
	for _, x := range d.Given {
		given = append(given, notation.Print(x, style))
	}
	name := d.Unit.Name
	if d.open { // a parameter's adjoint is the sum over all lanes
		name += ", one lane"
	}
	fmt.Fprintf(&b, "// %s %s: given %s\n", d.Unit.Unit.Keyword(), name, strings.Join(given, ", "))
	if len(d.Gradients) > 0 {
		b.WriteString("\n// inner gradients\n")
		for _, e := range d.Gradients {
			b.WriteString(e.Text(style))
		}
	}
	b.WriteString("\n// adjoints\n")
	if slices.ContainsFunc(d.Adjoints, func(e Equation) bool { return e.Wide }) {
		b.WriteString("// (of what a window reads the share of the present moment; an earlier one gets its own in the same way)\n")
	}
	for _, e := range d.Adjoints {
		b.WriteString(e.Text(style))
	}
	return b.String()
}

// Text prints an equation, each local definition on a line of its own.
func (e *Equation) Text(style notation.Style) string {
	verb, line, end := " = ", "\n  ", "\n"
	if e.Partial {
		verb, line, end = " holds ", " ", " and what later tokens send back\n"
	}
	if e.Shared {
		end = ", the share of this token\n"
	}
	if e.Parts || e.Shared {
		line = " "
	}
	out := notation.Print(e.Left, style) + verb + notation.Print(e.Right, style)
	for i, w := range e.With {
		lead := "," + line
		if i == 0 {
			lead = line + "with "
		}
		out += lead + notation.Print(w, style)
	}
	if e.Partial || e.Parts || e.Shared {
		out = "// " + out
	}
	return out + end
}

// Claim is the equation as a claim of the page.
func (e *Equation) Claim() *notation.Claim {
	return &notation.Claim{Keyword: notation.Word{Text: "claim"}, Left: e.Left, Right: e.Right, With: e.With}
}
