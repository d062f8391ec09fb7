package sample

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Declarations lists as text the numbers that the declarations of a unit fix and that enter
// no program: default sizes and options, first values and distributions of learned
// parameters. Names are in ASCII, and size returns the size of an axis. Examples: `8` for
// an option, `uniform(-0.5,0.5)`, `[3,4,4.5]` for a value by level, `normal(0,1)seed7` for
// a draw from a seed. The first value of a state is part of a program and is not listed.
func Declarations(u *notation.Unit, size func(axis string) float64) map[string]string {
	e := &declarations{unit: u, size: size}
	out := map[string]string{}
	for d := range notation.Of[*notation.Declare](u.Body) {
		if !slices.Contains([]string{"option", "outer", "const"}, d.Keyword.Text) {
			continue
		}
		for _, n := range d.Names {
			if text := e.text(n); text != "" {
				name := ident.ASCII(n.Name.Text)
				for out[name] != "" { // declared for other values of an option
					name += "'"
				}
				out[name] = text
			}
		}
	}
	return out
}

// declarations evaluates the declarations of a unit.
type declarations struct {
	unit *notation.Unit
	size func(axis string) float64
}

func (e *declarations) text(n *notation.DeclName) string {
	switch {
	case len(n.ByLevel) > 0:
		var all []string
		for _, x := range n.ByLevel {
			all = append(all, e.number(x))
		}
		return "[" + strings.Join(all, ",") + "]"
	case n.Dist != nil:
		text := notation.Print(n.Dist, notation.ASCII)
		if c, ok := n.Dist.(*notation.Call); ok {
			var all []string
			for _, x := range c.Args {
				all = append(all, e.number(x))
			}
			text = c.Fun.Text + "(" + strings.Join(all, ",") + ")"
		}
		if n.Seed != nil {
			text += "seed" + e.number(n.Seed)
		}
		return text
	case n.Type != nil && n.Type.Kind == notation.SetType && n.Init != nil:
		return notation.Print(n.Init, notation.ASCII) // a word, or a number of a choice
	case n.Init != nil:
		return e.number(n.Init)
	}
	return ""
}

// number prints a constant, or the expression where it is not one.
func (e *declarations) number(x notation.Expr) string {
	if v, ok := constant(x, e.name); ok {
		return fmt.Sprintf("%.12g", v)
	}
	return strings.ReplaceAll(notation.Print(x, notation.ASCII), " ", "")
}

// name is the size of an axis, or the default of an option; a word is neither.
func (e *declarations) name(text string) (float64, bool) {
	if v := e.size(ident.ASCII(text)); v != 0 {
		return v, true
	}
	for n := range notation.Declared(e.unit.Body, "option") {
		if n.Name.Text == text && n.Init != nil {
			return constant(n.Init, e.name)
		}
	}
	return 0, false
}
