// Package mark reads the directives by which a module declares the roles of its types,
// and passes them from package to package as facts.
//
// An analyzer of this tool knows no type by its name. It knows marks: comments
// of the form //hecate:NAME in the doc of a type, a function, a field of a struct
// or a package. They are exported as facts, so a mark in a library counts in every
// package that uses the library, in any module. The package that declares a marked
// type implements what the mark promises and is not held to it itself.
package mark

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis"
)

// Prefix begins every directive.
const Prefix = "//hecate:"

// A Set is the marks of one thing.
type Set uint32

// The marks; words says what they mean.
const (
	ConsumeOnce Set = 1 << iota
	NoEscape
	NoZero
	Clock
	Writer
	Run
	Value
	Takes
	Returns
	Borrows
	Scoped
	ReadOnly
	Advances
	Conductor
)

// where is the declarations that a mark may be on.
type where uint8

const (
	onType where = 1 << iota
	onFunc
	onField
	onPackage
)

// words is the spelling of every mark, the declarations that it may be on, and what it says.
var words = map[string]struct {
	set Set
	on  where
	doc string
}{
	"consumeonce": {ConsumeOnce, onType, "type: a value is used once; see consumeonce"},
	"noescape":    {NoEscape, onType, "type: a value lives for one scope; see noescape"},
	"nozero":      {NoZero, onType, "type: made by its constructor; see nozero"},
	"clock":       {Clock, onType, "type: the time; see pulsereadonly"},
	"writer":      {Writer, onType, "type: changes outer parameters"},
	"run":         {Run, onType, "type: what a forward computes with"},
	"value":       {Value, onType, "type: what a forward computes"},
	"takes":       {Takes, onFunc, "method: takes the content out of such a value"},
	"returns":     {Returns, onFunc, "method: gives the content back"},
	"borrows":     {Borrows, onFunc, "function: leaves such a value as it is"},
	"scoped":      {Scoped, onFunc, "function: its results point into a scope"},
	"readonly":    {ReadOnly, onFunc | onField, "function: its results are not written, see outerwrite; field: nor is what it points to"},
	"advances":    {Advances, onFunc, "method: the clock at another time"},
	"conductor":   {Conductor, onPackage, "package: drives the clock"},
}

// Help lists the marks, a line each.
func Help() string {
	var b strings.Builder
	for _, w := range sortedWords {
		fmt.Fprintf(&b, "\t%s%-12s %s\n", Prefix, w, words[w].doc)
	}
	return b.String()
}

// Fact is the marks of one object of a package, for the packages that import it.
type Fact struct{ Set Set }

// AFact makes Fact a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	var names []string
	for _, w := range sortedWords {
		if f.Set&words[w].set != 0 {
			names = append(names, w)
		}
	}
	return strings.Join(names, " ")
}

// Analyzer finds the marks; its result is a *Marks.
var Analyzer = &analysis.Analyzer{
	Name:       "hecatemarks",
	Doc:        "read //hecate: directives; the other analyzers need it, and it reports nothing",
	Run:        run,
	ResultType: reflect.TypeFor[*Marks](),
	FactTypes:  []analysis.Fact{new(Fact)},
}

// Marks are the marks of a package and of all that it imports.
type Marks struct {
	pkg   *types.Package
	self  Set // of the package
	all   Set // of anything
	byObj map[types.Object]Set

	mu     sync.Mutex
	allows []*Allow
	wrong  []wrong
}

func run(pass *analysis.Pass) (any, error) {
	m := &Marks{pkg: pass.Pkg, byObj: map[types.Object]Set{}}
	for _, f := range pass.AllObjectFacts() {
		if fact, ok := f.Fact.(*Fact); ok {
			m.byObj[f.Object] = fact.Set
			m.all |= fact.Set
		}
	}
	c := collector{pass, m, map[*ast.Comment]bool{}}
	for _, f := range pass.Files {
		c.file(f)
	}
	return m, nil
}

// collector reads the directives of one package.
type collector struct {
	pass *analysis.Pass
	m    *Marks
	seen map[*ast.Comment]bool
}

func (c collector) file(f *ast.File) {
	c.m.self |= c.doc(f.Doc, onPackage)
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			for _, s := range n.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					set := c.doc(s.Doc, onType)
					if len(n.Specs) == 1 {
						set |= c.doc(n.Doc, onType)
					}
					c.export(s.Name, set)
				}
			}
		case *ast.FuncDecl:
			c.export(n.Name, c.doc(n.Doc, onFunc))
			c.whole(n)
		case *ast.StructType:
			for _, field := range n.Fields.List {
				set := c.doc(field.Doc, onField)
				for _, name := range field.Names {
					c.export(name, set)
				}
			}
		case *ast.InterfaceType:
			for _, method := range n.Methods.List {
				set := c.doc(method.Doc, onFunc)
				for _, name := range method.Names {
					c.export(name, set)
				}
			}
		}
		return true
	})
	for _, g := range f.Comments {
		for _, comment := range g.List {
			c.loose(f, comment)
		}
	}
}

func (c collector) export(name *ast.Ident, set Set) {
	obj := c.pass.TypesInfo.Defs[name]
	if set == 0 || obj == nil {
		return
	}
	c.m.byObj[obj] |= set
	c.m.all |= set
	if obj.Pkg() == c.pass.Pkg {
		c.pass.ExportObjectFact(obj, &Fact{c.m.byObj[obj]})
	}
}

// doc reads the marks in the doc of a declaration and records those that do not belong
// there.
func (c collector) doc(g *ast.CommentGroup, on where) (set Set) {
	if g == nil {
		return 0
	}
	for _, comment := range g.List {
		text, ok := strings.CutPrefix(comment.Text, Prefix)
		if !ok || c.seen[comment] {
			continue
		}
		word, _, _ := strings.Cut(text, " ")
		w, known := words[word]
		if !known {
			continue // allow, or unknown: loose reports it
		}
		c.seen[comment] = true
		if w.on&on == 0 {
			c.m.wrong = append(c.m.wrong, wrong{comment.Pos(), Prefix + word + " does not belong here: it belongs on a " + w.on.String()})
			continue
		}
		set |= w.set
	}
	return set
}

func (w where) String() string {
	var out []string
	for i, name := range []string{"type", "function", "field of a struct", "package"} {
		if w&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return strings.Join(out, " or a ")
}
