// Package effect finds the effects of functions on their arguments: which functions
// they keep beyond the call or call no more than once, which lists they write, and
// which of their results alias an argument or may only be read. It is a fact of a function,
// so it is known of the functions of other modules too.
//
// A function that is called through an interface or a variable has no facts:
// what it keeps is assumed, what it writes is not.
package effect

import (
	"fmt"
	"go/ast"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/ctrlflow"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// Fact is what a function does, parameter i as bit i.
type Fact struct {
	Keeps  uint64 // functions that may be called after it returned
	Once   uint64 // functions that are called at most once
	Writes uint64 // lists whose elements it changes
	Gives  uint64 // its results may be the memory of a list; ReadOnly: of what is not written
}

// ReadOnly is the bit of memory that is not to be written. It is no parameter's.
const ReadOnly = 1 << 63

// AFact makes Fact a fact.
func (*Fact) AFact() {}

func (f *Fact) String() string {
	return fmt.Sprintf("keeps %x, once %x, writes %x, gives %x", f.Keeps, f.Once, f.Writes, f.Gives)
}

// Analyzer finds the facts; its result is an *Effects.
var Analyzer = &analysis.Analyzer{
	Name:       "hecateeffects",
	Doc:        "find which arguments functions keep and write; the other analyzers need it, and it reports nothing",
	Requires:   []*analysis.Analyzer{inspect.Analyzer, ctrlflow.Analyzer, mark.Analyzer},
	Run:        run,
	ResultType: reflect.TypeFor[*Effects](),
	FactTypes:  []analysis.Fact{new(Fact)},
}

// Effects are the facts of a package's functions and of all that it imports.
type Effects struct {
	info  *types.Info
	marks *mark.Marks
	cfgs  *ctrlflow.CFGs
	own   map[*types.Func]*Fact
	other map[types.Object]*Fact
}

func run(pass *analysis.Pass) (any, error) {
	e := &Effects{
		info:  pass.TypesInfo,
		marks: pass.ResultOf[mark.Analyzer].(*mark.Marks),
		cfgs:  pass.ResultOf[ctrlflow.Analyzer].(*ctrlflow.CFGs),
		own:   map[*types.Func]*Fact{},
		other: map[types.Object]*Fact{},
	}
	for _, f := range pass.AllObjectFacts() {
		if fact, ok := f.Fact.(*Fact); ok {
			e.other[f.Object] = fact
		}
	}
	var todo []inspector.Cursor
	for c := range pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root().Preorder((*ast.FuncDecl)(nil)) {
		d := c.Node().(*ast.FuncDecl)
		if f, ok := e.info.Defs[d.Name].(*types.Func); ok && d.Body != nil && concerned(f.Signature()) {
			e.own[f] = &Fact{}
			todo = append(todo, c)
		}
	}
	for changed := true; changed; {
		changed = false
		for _, c := range todo {
			f := e.info.Defs[c.Node().(*ast.FuncDecl).Name].(*types.Func)
			if now := e.function(c, f); now != *e.own[f] {
				e.own[f], changed = &now, true
			}
		}
	}
	for f, fact := range e.own {
		if *fact != (Fact{}) {
			pass.ExportObjectFact(f, fact)
		}
	}
	return e, nil
}

// concerned reports whether a function can have facts.
func concerned(sig *types.Signature) bool {
	for p := range sig.Params().Variables() {
		if _, ok := p.Type().Underlying().(*types.Signature); ok || list(p.Type()) {
			return true
		}
	}
	for r := range sig.Results().Variables() {
		if list(r.Type()) {
			return true
		}
	}
	return false
}

// list reports whether a type is memory whose elements can be written through it.
func list(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return true
	case *types.Pointer:
		switch u.Elem().Underlying().(type) {
		case *types.Array, *types.Basic:
			return true
		}
		_, param := types.Unalias(u.Elem()).(*types.TypeParam)
		return param
	case *types.Interface: // a type parameter such as S ~[]E
		p, ok := types.Unalias(t).(*types.TypeParam)
		return ok && listed(p)
	}
	return false
}

// listed reports whether all types of a type parameter are lists.
func listed(p *types.TypeParam) bool {
	c, ok := p.Constraint().Underlying().(*types.Interface)
	if !ok {
		return false
	}
	for t := range c.EmbeddedTypes() {
		switch t := t.(type) {
		case *types.Union:
			for i := range t.Len() {
				if _, ok := t.Term(i).Type().Underlying().(*types.Slice); ok {
					return true
				}
			}
		default:
			if _, ok := t.Underlying().(*types.Slice); ok {
				return true
			}
		}
	}
	return false
}

// function is the analysis of a function, with the facts of the others so far.
func (e *Effects) function(c inspector.Cursor, f *types.Func) Fact {
	fact := Fact{}
	entry := Memory{}
	params := f.Signature().Params()
	for i := range min(params.Len(), 62) {
		p := params.At(i)
		if _, ok := p.Type().Underlying().(*types.Signature); ok {
			if e.keeps(c, p, map[*types.Var]bool{}) {
				fact.Keeps |= 1 << i
			}
			if e.once(c, p) {
				fact.Once |= 1 << i
			}
		}
		if list(p.Type()) {
			entry[p] = 1 << i
		}
	}
	e.Trace(c.Node(), entry, func(_ ast.Node, of uint64, _ string) { fact.Writes |= of &^ ReadOnly }, func(of uint64) { fact.Gives |= of })
	return fact
}

// Of returns what is known of a function.
func (e *Effects) Of(f *types.Func) Fact {
	if f == nil {
		return Fact{}
	}
	f = f.Origin()
	if fact := e.own[f]; fact != nil {
		return *fact
	}
	if fact := e.other[f]; fact != nil {
		return *fact
	}
	return Fact{}
}

// parameter returns the number of the parameter that argument i of a call is for.
func parameter(sig *types.Signature, i int) int {
	return min(i, sig.Params().Len()-1, 62)
}
