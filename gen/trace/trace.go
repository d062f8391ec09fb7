// Package trace follows every equation of the pages to the symbols that compute
// it and the tests that hold it, and every symbol back to its equations.
//
// The generated files name the equation of each statement: its stable id is in a comment
// above the statement. So the symbols of an equation are read from the bytes that are
// written, and cannot differ from them. An equation that no comment names is folded into
// those that use it, calls a part, or has no symbol and is a gap.
//
// The result is the data of gen/audit, which prints it as JSON
// (`hecategen audit -json`).
package trace

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/units"
)

// A Trace is the whole map.
type Trace struct {
	Units     []*Unit     `json:"units"`
	Equations []*Equation `json:"equations"`
	Symbols   []*Symbol   `json:"symbols"`
	Tests     []*Test     `json:"tests"`
	Declared  []Declared  `json:"declared"`
	Errata    []Erratum   `json:"-"` // audits list them

	Tags map[string][]string `json:"-"` // of the lines of each page
}

// A Declared line is taken from the page and not derived.
type Declared struct {
	Kind   string `json:"kind"` // adjoint, relax, nograd
	Unit   string `json:"unit"`
	Text   string `json:"text"`
	Reason string `json:"reason,omitempty"`
	Page   string `json:"page"`
	Line   int    `json:"line"`
}

// An Erratum is a page's word that a source has something otherwise, with the
// claim that shows it.
type Erratum struct {
	Unit  string `json:"unit"`
	Cite  string `json:"cite"`            // key#equation
	Title string `json:"title,omitempty"` // of the source, where papers.md has it
	Says  string `json:"says"`
	By    string `json:"by"`    // id of the claim
	Claim string `json:"claim"` // as the page has it
	Page  string `json:"page"`
	Line  int    `json:"line"`
}

// A Unit is one unit of a page.
type Unit struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Page    string   `json:"page"`
	Line    int      `json:"line"`
	Emitted bool     `json:"emitted"`
	Package string   `json:"package,omitempty"`
	UsedBy  []string `json:"used_by,omitempty"` // emitted units that are made from it
	Tests   []string `json:"tests,omitempty"`
	Cut     []string `json:"cut,omitempty"` // in what ways results depend on how tokens are cut into calls

	unit    *notation.Unit
	imports []string // by its package
}

// An Equation is a line of a page, or that line written out in one emitted unit.
type Equation struct {
	ID      string   `json:"id"`
	Unit    string   `json:"unit"`
	Kind    string   `json:"kind"`
	Page    string   `json:"page"`
	Line    int      `json:"line"`
	Text    string   `json:"text"`
	Of      string   `json:"of,omitempty"`     // the line that it is written out from
	In      []string `json:"in,omitempty"`     // where it is written out
	Folded  []string `json:"folded,omitempty"` // computed inside these
	Claims  []string `json:"claims,omitempty"` // units whose claims speak of it
	Cite    string   `json:"cite,omitempty"`
	Paper   *Paper   `json:"paper,omitempty"`
	Hashes  Hashes   `json:"hashes"`
	Files   []string `json:"files,omitempty"`
	Symbols []string `json:"symbols,omitempty"`
	Tests   []string `json:"tests,omitempty"`

	span notation.Span
}

// A Paper is the source that a citation names.
type Paper struct {
	Title string `json:"title"`
	ArXiv string `json:"arxiv,omitempty"`
	Eq    string `json:"eq"`
	Read  bool   `json:"read"` // somebody compared it with the paper
}

// Hashes tell changes apart: Bytes changes with the line, Tokens with its words, IR with
// the program.
type Hashes struct {
	Bytes  string `json:"bytes"`
	Tokens string `json:"tokens"`
	IR     string `json:"ir,omitempty"`
}

// A Symbol is a declaration of a generated file.
type Symbol struct {
	Name      string   `json:"name"` // generated/rules/x.Step.Run
	Kind      string   `json:"kind"` // type, func, method, value
	Role      string   `json:"role"`
	File      string   `json:"file"`
	Line      int      `json:"line"`
	Unit      string   `json:"unit,omitempty"`
	Equations []string `json:"equations,omitempty"`
	Tests     []string `json:"tests,omitempty"`
	Unknown   []string `json:"unknown,omitempty"` // ids in its comments that no page has

	recv  string
	calls []string // parts that it calls
}

// The roles of symbols.
const (
	Kernel = "kernel" // has statements of equations
	Face   = "face"   // the unit as a caller sees it: its type, its constructor, its calls
	Shared = "shared" // belongs to no equation: helpers, registry, safety
)

// A Test is a generated test function.
type Test struct {
	Name string `json:"name"` // generated/rules/x.TestHebbian
	File string `json:"file"`
	Line int    `json:"line"`
	Unit string `json:"unit,omitempty"`
}

// New follows the equations of a project into the files that it became.
func New(e *gen.Emission) *Trace {
	bib, _ := e.Source.Papers() // errors in it were reported when the pages were read
	t := &tracer{emission: e, src: e.Source, papers: bib, out: &Trace{Tags: map[string][]string{}}, byID: map[string]*Equation{}, lines: map[place]*Equation{}, blocks: map[string]*check.Block{},
		programs: map[*check.Block][]*ir.Func{}}
	t.units()
	t.pages()
	t.statements()
	for _, u := range t.src.Tree.Order {
		if _, emitted := e.Cuts[u.Name.Text]; emitted {
			if b, _ := check.Instantiate(t.src.Tree, u); b != nil {
				t.block(b)
			}
		}
	}
	t.claims()
	t.link()
	t.borrowed()
	t.read()
	t.join()
	t.sort()
	return t.out
}

// borrowed leaves out the units and equations of other projects with which no unit of
// this one is made.
func (t *tracer) borrowed() {
	used := map[string]bool{}
	for _, e := range t.out.Equations {
		used[e.Unit] = used[e.Unit] || len(e.In) > 0
	}
	own := map[string]bool{}
	t.out.Units = slices.DeleteFunc(t.out.Units, func(u *Unit) bool {
		own[u.ID] = t.src.Own(u.unit)
		return !own[u.ID] && !used[u.ID]
	})
	t.out.Equations = slices.DeleteFunc(t.out.Equations, func(e *Equation) bool {
		drop := !own[e.Unit] && len(e.In) == 0
		if drop {
			delete(t.byID, e.ID)
		}
		return drop
	})
}

// A place is a stretch of a page.
type place struct {
	path       string
	start, end int
}

func placeOf(s notation.Span) place { return place{s.File.Path, s.Start, s.End} }

type tracer struct {
	emission *gen.Emission
	src      *gen.Source
	papers   *spec.Bibliography
	programs map[*check.Block][]*ir.Func // as the pages have them

	out    *Trace
	byID   map[string]*Equation
	lines  map[place]*Equation // equations of units that are written out elsewhere
	blocks map[string]*check.Block
	uses   []use
}

// A use is an equation of a block that is written with a line of another unit.
type use struct{ line, in *Equation }

func (t *tracer) units() {
	for _, u := range t.src.Tree.Order {
		if u.Example {
			continue
		}
		line, _ := u.Span.File.Pos(u.Span.Start)
		out := &Unit{ID: units.ID(u), Name: u.Name.Text, Kind: u.Kind.String(), Page: t.src.Path(u.Span.File.Path), Line: line, unit: u}
		out.Cut, out.Emitted = t.emission.Cuts[u.Name.Text]
		t.out.Units = append(t.out.Units, out)
	}
}

func (t *tracer) unit(id string) *Unit {
	for _, u := range t.out.Units {
		if u.ID == id {
			return u
		}
	}
	return nil
}

// add files an equation; a second one of the same id is the first.
func (t *tracer) add(id, unit, kind string, span notation.Span, node any, cite *notation.Cite) *Equation {
	if e := t.byID[id]; e != nil {
		return e
	}
	line, _ := span.File.Pos(span.Start)
	text := strings.TrimSpace(span.Text())
	words := oneLine(text)
	if node != nil {
		words = notation.Print(node, notation.Unicode)
	}
	e := &Equation{ID: id, Unit: unit, Kind: kind, Page: t.src.Path(span.File.Path), Line: line,
		Text: oneLine(text), Hashes: Hashes{Bytes: Hash(text), Tokens: Hash(words)}, span: span}
	if cite != nil {
		e.Cite = cite.List()
		if p := t.papers.ByKey(cite.Paper); p != nil {
			e.Paper = &Paper{Title: p.Title, ArXiv: p.ArXiv + p.Version, Eq: cite.Eq, Read: p.Covers(cite.Eq)}
		}
	}
	t.byID[id] = e
	t.out.Equations = append(t.out.Equations, e)
	return e
}

// pages files the equations of the units that have no code of their own: they
// are written out in the units that use them.
func (t *tracer) pages() {
	for _, u := range t.out.Units {
		if u.Emitted || u.unit.Kind == notation.RuleUnit || u.unit.Kind == notation.ModelUnit || u.unit.Kind == notation.ComposeUnit {
			continue
		}
		for _, d := range definitions(u.unit) {
			id := u.ID + "." + d.name
			if u.unit.Kind == notation.FuncUnit {
				id = u.ID
			}
			t.lines[placeOf(d.span)] = t.add(id, u.ID, d.kind, d.span, d.node, d.cite)
		}
	}
}

// claims notes which units call a function in their claims: such a function may have no
// code at all.
func (t *tracer) claims() {
	for _, u := range t.out.Units {
		for _, st := range u.unit.Body {
			switch st.(type) {
			case *notation.Claim, *notation.Kink, *notation.Invariant:
			default:
				continue
			}
			for c := range notation.All[*notation.Call](st) {
				if e := t.byID[ident.ID(c.Fun.Text)+"()"]; e != nil && e.Kind == "function" {
					e.Claims = with(e.Claims, u.ID)
				}
			}
		}
	}
}

// link fills the two lists of uses, and the list of the units that a unit is used by.
func (t *tracer) link() {
	for _, u := range t.uses {
		if !slices.Contains(u.line.In, u.in.ID) {
			u.line.In = append(u.line.In, u.in.ID)
		}
		if from := t.unit(u.line.Unit); from != nil && u.line.Unit != u.in.Unit && !slices.Contains(from.UsedBy, u.in.Unit) {
			from.UsedBy = append(from.UsedBy, u.in.Unit)
		}
	}
}
