// Package derive prints derived adjoints the way a page writes equations.
//
// The compiler differentiates programs, and a program is no proof that a
// person can follow. This package takes the adjoints of one step of a rule, or
// of an operation, and turns them back into the notation: bars for adjoints,
// products of matrices where an instruction is one, Σ and indices elsewhere.
//
//	k̄_t = −θ_t M̄_tᵀ a − θ_t M_{t−1}ᵀ b
//	  with a = M_{t−1} k_t − v_t, b = M̄_t k_t
//
// An equation that is printed is a claim: it parses, it types, and both sides are
// equal, which a test checks for all pages of the project. An adjoint may read those
// above it. The adjoint of a state after the step is complete: it contains the
// contribution of the step's own output.
//
// The work has three parts: the program of all adjoints (adjoints.go), expressions
// of arrays without indices (array_form.go, product_form.go), and expressions entry
// by entry where an array has none (entrywise.go, reads.go).
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

// An Equation is one derived line. A Partial one is only the contribution of the step to
// an adjoint that it is given, and is printed as a comment. So is one that depends on the
// adjoints of parts: attention̄(X; ā) is the contribution of the part attention, called
// with X, to the adjoint of X, where ā is the adjoint of its result a.
type Equation struct {
	Left    notation.Expr // an adjoint, or an inner gradient
	Right   notation.Expr
	With    []*notation.Define
	Partial bool
	Shared  bool // of a value that is the same for all tokens and has an equation: the contribution of this token, which no claim covers
	Parts   bool // depends on adjoints that parts return
	Wide    bool // of a value that a window reads: the contribution of the step to the present time step
}

// A Derivation is the backward of one unit.
type Derivation struct {
	open         bool // a composition or model
	calls        []irbuild.PartCall
	partAdjoints map[*ir.Value]*notation.Call // adjoints that parts return
	incomplete   map[string]bool              // names whose adjoints depend on those

	windows []*ir.Axis // that the step reads

	Unit      *check.Block
	Given     []notation.Expr // adjoints of results
	Gradients []Equation
	Adjoints  []Equation
}

// Of derives the backward of a block; nil means that an error was reported.
func Of(b *check.Block, ds *diag.List) *Derivation {
	if b.Strategy != nil { // a strategy computes the steps of its rule
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

// Text prints a derivation; every line that is not a comment is an equation.
func (d *Derivation) Text(style notation.Style) string {
	var b strings.Builder
	var given []string
	for _, x := range d.Given {
		given = append(given, notation.Print(x, style))
	}
	name := d.Unit.Name
	if d.open { // the adjoint of a parameter is the sum over the batch
		name += ", one sequence"
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
		b.WriteString("// (of a value that a window reads, the contribution to the present time step; earlier ones receive theirs in the same way)\n")
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
		verb, line, end = " receives ", " ", " and the contributions of later tokens\n"
	}
	if e.Shared {
		end = ", the contribution of this token\n"
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
