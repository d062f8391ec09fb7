package proof

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Names and texts of statements, of which the stable ids of items are made.

// ClaimKinds are the kinds of claims by keyword.
var ClaimKinds = map[string]Kind{"claim": Claim, "eval": Eval, "adjoint": Adjoint, "relax": Relax}

// ClaimName is the tag of a claim, or the names on its left side.
func ClaimName(c *notation.Claim) string {
	if c.Tag != nil {
		return c.Tag.Text
	}
	var words []string
	notation.Inspect(c.Left, func(n any) bool {
		switch n := n.(type) {
		case *notation.Grad:
			words = append(words, "grad", n.Wrt.Text, n.Call.Fun.Text)
			return false
		case *notation.Ident:
			words = append(words, n.Name.Text)
			if n.Bar {
				words = append(words, "bar")
			}
		}
		return true
	})
	if len(words) == 0 {
		return "equality"
	}
	return ident.ASCII(strings.Join(words, "_"))
}

// InvariantName is the tag of an invariant, or its number.
func InvariantName(inv *notation.Invariant, i int) string {
	if inv.Tag != nil {
		return inv.Tag.Text
	}
	return fmt.Sprintf("invariant%d", i+1)
}

// Conjuncts lists the operands of a conjunction.
func Conjuncts(c notation.Expr) []notation.Expr {
	if a, ok := c.(*notation.And); ok {
		return append(Conjuncts(a.X), Conjuncts(a.Y)...)
	}
	return []notation.Expr{c}
}

// MarkText prints a marker with its arguments.
func MarkText(m *notation.Mark) string {
	var names []string
	for _, a := range m.Args {
		names = append(names, a.Text)
	}
	if len(names) == 0 {
		return m.Name.Text
	}
	return m.Name.Text + "(" + strings.Join(names, ", ") + ")"
}

// MarkID is the stable name of a marker: affine_in_state:m,s.
func MarkID(name, text string) string {
	args := strings.TrimSuffix(strings.TrimPrefix(text, name), ")")
	if args == "" {
		return ident.ID(name)
	}
	return ident.ID(name) + ":" + strings.ReplaceAll(ident.ASCII(args[1:]), ", ", ",")
}

// HasNormalisedRows reports whether the rows of a set have norm or sum one, up to rounding.
func HasNormalisedRows(kind notation.TypeKind) bool {
	return kind == notation.SphereType || kind == notation.SimplexType
}

// SpecialName is the two formulas of a special case.
func SpecialName(s *notation.Special) string {
	var out []string
	for _, f := range []*notation.Formula{s.Left, s.Right} {
		var names []string
		for _, a := range f.Parts {
			names = append(names, ident.ID(a.Name.Text))
		}
		out = append(out, strings.Join(names, "+"))
	}
	return strings.Join(out, "=")
}
