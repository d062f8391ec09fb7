package units

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/notation"
)

// The arguments in the parentheses after the name of a page are options, set by name, and
// parts, given by name or by position: A(B, second = C).
// Positions come first. Only the page knows which names are parts, so the parser
// leaves `first = B` a value, and it becomes a page here.

// A list of parts, memory[K] : Rule, takes a list of pages, [A, B],
// and its axis counts them.

// A Given is a page that is given for a part.
type Given struct {
	Part  *notation.Param
	Index int // in a list of parts
	Apply *notation.Apply
}

// Name is the name that the part has in programs and tables: memory, or memory.2
// of a list.
func (g Given) Name() string {
	if g.Part.List == nil {
		return g.Part.Name.Text
	}
	return fmt.Sprintf("%s.%d", g.Part.Name.Text, g.Index)
}

// PartsOf lists the parts of a page, in the order of its header.
func PartsOf(u *notation.Unit) []*notation.Param {
	return slices.DeleteFunc(slices.Clone(u.Params), func(p *notation.Param) bool {
		return p.Type == nil || p.Type.Kind != notation.PageType
	})
}

// Bind splits the arguments of a page in a formula into parts, in the order of the header,
// and options.
func Bind(u *notation.Unit, args []*notation.Override, ds *diag.List) (given []Given, options []*notation.Override) {
	parts := PartsOf(u)
	got := map[string]*notation.Override{}
	var named *notation.Override
	place := 0
	for _, o := range args {
		var p *notation.Param
		k := slices.IndexFunc(parts, func(p *notation.Param) bool { return p.Name.Text == o.Name.Text })
		a := o.Apply
		isList := o.List != nil
		switch {
		case k >= 0:
			p, named = parts[k], o
			if a == nil && !isList && p.List == nil {
				a = page(o.Value)
			}
			if a == nil && !isList && p.List == nil {
				ds.Errorf(diag.BadPart, o.Value.Where(), "part %s of %s is a page, and this is not", p.Name.Text, u.Name.Text).See(p.Span, "declared here")
				return nil, nil
			}
		case isList && o.Name.Text == "" && named == nil && place < len(parts):
			p = parts[place]
			place++
		case o.Name.Text != "" && a == nil && !isList && (len(parts) == 0 || HasOption(u, o.Name.Text) || page(o.Value) == nil):
			options = append(options, o)
			continue
		case o.Name.Text != "":
			d := ds.Errorf(diag.BadPart, o.Name.Span, "%s has no part %s", u.Name.Text, o.Name.Text).Labelf("%s", PartList(u))
			if n := ident.Nearest(o.Name.Text, PartNames(parts)); n != "" {
				d.Hint("did you mean %s?", n)
			}
			return nil, nil
		case a == nil:
			ds.Errorf(diag.UnknownOption, o.Span, "an option is set by its name").Hint("write %s(name = %s)", u.Name.Text, strings.TrimSpace(o.Span.Text()))
			return nil, nil
		case named != nil:
			ds.Errorf(diag.BadPart, o.Span, "a part without a name is after a named one").See(named.Span, "the named one").
				Hint("give parts by place first, or name this one too")
			return nil, nil
		case place == len(parts):
			ds.Errorf(diag.BadPart, o.Span, "%s", PartList(u)).Labelf("one more").See(u.Name.Span, "%s is defined here", u.Name.Text)
			return nil, nil
		default:
			p = parts[place]
			place++
		}
		if old := got[p.Name.Text]; old != nil {
			ds.Errorf(diag.BadPart, o.Span, "part %s of %s is given twice", p.Name.Text, u.Name.Text).See(old.Span, "the first one")
			return nil, nil
		}
		got[p.Name.Text] = o
		if p.List == nil && isList && a == nil {
			ds.Errorf(diag.BadPart, o.Span, "part %s of %s is one page, and this is a list", p.Name.Text, u.Name.Text).See(p.Span, "declared here")
			return nil, nil
		}
		if p.List == nil {
			given = append(given, Given{Part: p, Apply: a})
			continue
		}
		if !isList {
			ds.Errorf(diag.BadPart, o.Span, "part %s of %s is a list of pages", p.Name.Text, u.Name.Text).See(p.Span, "declared here").
				Hint("write [%s]", strings.TrimSpace(o.Span.Text()))
			return nil, nil
		}
		for i, x := range o.List {
			given = append(given, Given{p, i, x})
		}
	}
	slices.SortStableFunc(given, func(a, b Given) int { return slices.Index(parts, a.Part) - slices.Index(parts, b.Part) })
	return given, options
}

// HasOption reports whether the lines of a page declare an option.
func HasOption(u *notation.Unit, name string) bool { return optionOf(u, name) != nil }

// optionOf is the declaration of an option on a page, or nil.
func optionOf(u *notation.Unit, name string) *notation.DeclName {
	for n := range notation.Declared(u.Body, "option") {
		if n.Name.Text == name {
			return n
		}
	}
	return nil
}

// PartList lists the parts of a page in a sentence.
func PartList(u *notation.Unit) string {
	switch parts := PartsOf(u); len(parts) {
	case 0:
		return u.Name.Text + " has no parts"
	case 1:
		return u.Name.Text + " has the part " + parts[0].Name.Text
	default:
		return fmt.Sprintf("%s has the parts %s", u.Name.Text, strings.Join(PartNames(parts), ", "))
	}
}

// PartNames returns the names of parts.
func PartNames(parts []*notation.Param) []string {
	var out []string
	for _, p := range parts {
		out = append(out, p.Name.Text)
	}
	return out
}

// page converts a value to a page, a name or a call with pages; nil for any other value.
func page(e notation.Expr) *notation.Apply {
	switch e := e.(type) {
	case *notation.Ident:
		if e.Time == nil && !e.Bar {
			return &notation.Apply{Span: e.Span, Name: e.Name}
		}
	case *notation.Call:
		a := &notation.Apply{Span: e.Span, Name: e.Fun}
		if len(e.At) > 0 || len(e.Semi) > 0 {
			return nil
		}
		for _, x := range e.Args {
			o := &notation.Override{Span: x.Where(), Apply: page(x)}
			if o.Apply == nil {
				o.Value = x
			}
			a.Args = append(a.Args, o)
		}
		return a
	}
	return nil
}

// Instance reports whether a unit is another one with its parts given. A composition without
// parts, and with options of another one, has equations of its own.
func (t *Tree) Instance(u *notation.Unit) bool {
	return u.Formula != nil && (u.Kind == notation.ModelUnit || u.Kind == notation.ComposeUnit && len(PartsOf(t.BasePage(u))) > 0)
}

// BasePage returns the page that an instance such as compose A = B([…]) is of.
func (t *Tree) BasePage(u *notation.Unit) *notation.Unit {
	for range maxInstances {
		if u.Kind != notation.ComposeUnit || u.Formula == nil || len(u.Formula.Parts) != 1 || t.Units[u.Formula.Parts[0].Name.Text] == nil {
			break
		}
		u = t.Units[u.Formula.Parts[0].Name.Text]
	}
	return u
}

// maxInstances bounds a chain of instances; a cycle is refused elsewhere.
const maxInstances = 20
