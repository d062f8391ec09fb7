package sample

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Some numbers of a page enter no program: what an option is by default when it
// is a size or a setting, what a learned parameter starts from, how widely it is
// drawn. They are listed here as text, so that they can be held to what is known
// of them from outside (the program `declared` of a witness), and so that a
// change of one counts as a change.

// Declarations are what the declarations of a unit fix, by name in ASCII, where
// each name of an axis has a size: `8` for an option, `uniform(-0.5,0.5)`,
// `[3,4,4.5]` for a value by level, with `seed7` behind what is drawn from one.
// The first value of a state is part of a program, and is not among them.
func Declarations(u *notation.Unit, size func(axis string) float64) map[string]string {
	e := &declarations{unit: u, size: size}
	out := map[string]string{}
	for _, st := range u.Body {
		d, ok := st.(*notation.Declare)
		if !ok || !slices.Contains([]string{"option", "outer", "const"}, d.Keyword.Text) {
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

// number is a number of a declaration, or what is written where it is none.
func (e *declarations) number(x notation.Expr) string {
	if v, ok := e.value(x); ok {
		return fmt.Sprintf("%.12g", v)
	}
	return strings.ReplaceAll(notation.Print(x, notation.ASCII), " ", "")
}

func (e *declarations) value(x notation.Expr) (float64, bool) {
	if v, ok := notation.Constant(x); ok {
		return v, true
	}
	all := func(xs ...notation.Expr) ([]float64, bool) {
		var out []float64
		for _, x := range xs {
			v, ok := e.value(x)
			if !ok {
				return nil, false
			}
			out = append(out, v)
		}
		return out, true
	}
	switch x := x.(type) {
	case *notation.Ident:
		return e.name(x.Name.Text)
	case *notation.Unary:
		v, ok := e.value(x.X)
		return -v, ok
	case *notation.Juxt:
		if vs, ok := all(x.Items...); ok {
			p := 1.0
			for _, v := range vs {
				p *= v
			}
			return p, true
		}
	case *notation.Binary:
		if vs, ok := all(x.X, x.Y); ok {
			switch x.Op {
			case "+":
				return vs[0] + vs[1], true
			case "−":
				return vs[0] - vs[1], true
			case "·":
				return vs[0] * vs[1], true
			case "/":
				return vs[0] / vs[1], true
			}
		}
	case *notation.Power:
		if vs, ok := all(x.X, x.Exp); ok {
			return math.Pow(vs[0], vs[1]), true
		}
	case *notation.Call:
		if vs, ok := all(x.Args...); ok && x.Fun.Text == "sqrt" && len(vs) == 1 {
			return math.Sqrt(vs[0]), true
		}
	}
	return 0, false
}

// name is the size of an axis, or the default of an option; a word is neither.
func (e *declarations) name(text string) (float64, bool) {
	if v := e.size(ident.ASCII(text)); v != 0 {
		return v, true
	}
	for _, st := range e.unit.Body {
		d, ok := st.(*notation.Declare)
		if !ok || d.Keyword.Text != "option" {
			continue
		}
		for _, n := range d.Names {
			if n.Name.Text == text && n.Init != nil {
				return e.value(n.Init)
			}
		}
	}
	return 0, false
}
