package formula

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/internal/spelling"
)

// The kinds of pages and of parts.
const (
	Rule        = "rule"
	Composition = "composition"
	Schedule    = "schedule" // a composition in the place of a rule
	Model       = "model"
	Block       = "block" // of a part: a rule or a composition
)

// A Page is what a table knows about one page.
type Page struct {
	Kind  string
	Parts []Part
	Sizes []string // that a formula may set
	Width string   // of a model: the size that is the width of its parts
	Is    string   // the formula of a named instance
}

// A Part is a place for a page, or for a list of them.
type Part struct {
	Name, Kind string
	List       bool
	Bare       bool // sizes and parameters of the page do not carry the part's name
}

// A Node is a page with the pages in the places of its parts.
type Node struct {
	Name  string
	Page  Page
	Sizes map[string]int
	Parts [][]*Node // in step with Page.Parts
}

// Part returns the pages in the place of a part.
func (n *Node) Part(name string) []*Node {
	for i, p := range n.Page.Parts {
		if p.Name == name {
			return n.Parts[i]
		}
	}
	panic("formula: BUG: " + n.Name + " has no part " + name)
}

// Bare reports whether the page in a part's place does not carry the part's name.
func (n *Node) Bare(part string) bool {
	return slices.ContainsFunc(n.Page.Parts, func(p Part) bool { return p.Name == part && p.Bare })
}

// String prints the formula of a node, parts by place.
func (n *Node) String() string {
	return n.formula().String()
}

func (n *Node) formula() Formula {
	f := Formula{Name: n.Name}
	for i, part := range n.Page.Parts {
		a := Arg{List: part.List}
		for _, p := range n.Parts[i] {
			a.Pages = append(a.Pages, p.formula())
		}
		f.Args = append(f.Args, a)
	}
	for _, name := range slices.Sorted(maps.Keys(n.Sizes)) {
		f.Args = append(f.Args, Arg{Name: name, Size: n.Sizes[name]})
	}
	return f
}

// A Table knows pages by name.
type Table map[string]Page

// Bind finds the pages of a formula, which must be of a kind. Any error is an
// *Error.
func (t Table) Bind(f Formula, kind string) (*Node, error) { return t.bind(f, kind, 0) }

func (t Table) bind(f Formula, kind string, depth int) (*Node, error) {
	page, ok := t[f.Name]
	switch {
	case !ok:
		return nil, f.error(f.At, t.suggest(f.Name, kind), "there is no page %s", f.Name)
	case !fits(page.Kind, kind):
		return nil, f.error(f.At, t.suggest("", kind), "%s is a %s, and a %s is needed here", f.Name, page.Kind, kind)
	case depth > maxDepth:
		return nil, f.error(f.At, "", "%s is defined by itself", f.Name)
	}
	if page.Is != "" {
		if len(f.Args) > 0 {
			return nil, f.error(f.At, "write "+page.Is+" with what you want", "%s has its parts already", f.Name)
		}
		is, err := Parse(page.Is)
		if err != nil {
			return nil, err
		}
		return t.bind(is, kind, depth+1)
	}
	n := &Node{Name: f.Name, Page: page, Sizes: map[string]int{}, Parts: make([][]*Node, len(page.Parts))}
	place := 0
	for _, a := range f.Args {
		if err := t.arg(f, n, a, &place, depth); err != nil {
			return nil, err
		}
	}
	for i, p := range page.Parts {
		if n.Parts[i] == nil {
			return nil, f.error(f.At, "", "the part %s of %s is not given", p.Name, f.Name)
		}
	}
	return n, nil
}

// arg puts one argument into its place.
func (t Table) arg(f Formula, n *Node, a Arg, place *int, depth int) error {
	if a.Name != "" && !a.List && len(a.Pages) == 0 {
		if !slices.Contains(n.Page.Sizes, a.Name) {
			hint := nearest(a.Name, n.Page.Sizes)
			if hint == "" && len(n.Page.Sizes) > 0 {
				hint = "a formula sets sizes, here " + strings.Join(n.Page.Sizes, ", ") + "; an option is set on a page"
			}
			return f.error(a.At, hint, "%s has no size %s", f.Name, a.Name)
		}
		n.Sizes[a.Name] = a.Size
		return nil
	}
	at := *place
	if a.Name != "" {
		at = slices.IndexFunc(n.Page.Parts, func(p Part) bool { return p.Name == a.Name })
	} else {
		*place++
	}
	switch {
	case at < 0:
		var names []string
		for _, p := range n.Page.Parts {
			names = append(names, p.Name)
		}
		return f.error(a.At, nearest(a.Name, names), "%s has no part %s", f.Name, a.Name)
	case at >= len(n.Page.Parts):
		return f.error(a.At, "", "%s has %s, and this is another", f.Name, number(len(n.Page.Parts)))
	}
	p := n.Page.Parts[at]
	switch {
	case n.Parts[at] != nil:
		return f.error(a.At, "", "the part %s of %s is given twice", p.Name, f.Name)
	case p.List && !a.List:
		return f.error(a.At, "put it in brackets", "the part %s of %s is a list of pages", p.Name, f.Name)
	case !p.List && a.List:
		return f.error(a.At, "", "the part %s of %s is one page, and this is a list", p.Name, f.Name)
	case len(a.Pages) == 0:
		return f.error(a.At, "", "the list of %s is empty", p.Name)
	}
	for _, x := range a.Pages {
		m, err := t.bind(x, p.Kind, depth+1)
		if err != nil {
			return err
		}
		n.Parts[at] = append(n.Parts[at], m)
	}
	return nil
}

// fits reports whether a page of a kind can take the place of another.
func fits(is, wanted string) bool {
	switch wanted {
	case Rule:
		return is == Rule || is == Schedule
	case Block:
		return is == Rule || is == Composition || is == Schedule
	case Composition:
		return is == Composition || is == Schedule
	}
	return is == wanted
}

func (f Formula) error(at int, hint, format string, args ...any) error {
	return &Error{Text: f.text, At: at, Msg: fmt.Sprintf(format, args...), Hint: hint}
}

// suggest is a hint of the pages that fit a place.
func (t Table) suggest(name, kind string) string {
	var names []string
	for n, p := range t {
		if fits(p.Kind, kind) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	if h := nearest(name, names); h != "" || len(names) == 0 {
		return h
	}
	return "there are " + strings.Join(names, ", ")
}

// nearest is "did you mean …?" of the candidate that a misspelt name most likely
// meant, or "".
func nearest(name string, candidates []string) string {
	if best := spelling.Nearest(name, candidates); best != "" {
		return "did you mean " + best + "?"
	}
	return ""
}

// number is how many parts a page has, in words.
func number(parts int) string {
	if parts == 1 {
		return "one part"
	}
	return fmt.Sprintf("%d parts", parts)
}
