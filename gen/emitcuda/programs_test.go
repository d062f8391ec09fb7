package emitcuda_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/random"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/source"
)

// A program is one program of a unit, its kernels and their text.
type program struct {
	name     string
	unit     *abi.Unit
	blk      *check.Block
	f        *ir.Func
	front    *ir.Func       // computes inputs of f; nil where nothing is outlined
	pair     *ir.Pair       // nil for an update
	fwd, bwd *emitcuda.Text // bwd may be nil
	other    map[string]int // sizes that are not those of all trials
	random   bool           // of a page that may lead float32 astray
	failed   bool           // its kernels are wrong
	narrow   int            // 1: operands of products are in bfloat16
}

// sizes of trials: odd, all different, and d_v of more rows than a block has.
// Others are otherSize. L and T come with the trial.
var sizes = map[string]int{"d": 5, "d_k": 7, "d_v": 35, "d_h": 5, "H": 3, "C": 5, "w": 4, "n_p": 2, "V": 11, "n": 9, "m": 6, "k": 13, "K": 4}

const otherSize = 3

func (p *program) sizeOf(name string) int {
	if n, ok := p.other[name]; ok {
		return n
	}
	if n, ok := sizes[name]; ok {
		return n
	}
	return otherSize
}

// specs is the folder of the pages.
const specs = "../../specs"

// loaded are the programs of the pages, which are compiled once.
var loaded []*program

// load compiles the pages to programs: the units that are emitted. A test may change
// what it gets.
func load(t testing.TB) []*program {
	t.Helper()
	if loaded == nil {
		loaded = compiled(t)
	}
	var out []*program
	for _, p := range loaded {
		q := *p
		out = append(out, &q)
	}
	return out
}

func compiled(t testing.TB) []*program {
	t.Helper()
	s, ds := gen.Load(specs)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	units, ds := gen.Compile(s)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var out []*program
	functions := map[string]bool{}
	for _, u := range units {
		for _, p := range programsOf(t, s, u, s.Tree.Units[u.Name]) {
			if text := p.f.String(); strings.HasSuffix(p.name, "_front") {
				if functions[text] {
					continue
				}
				functions[text] = true
			}
			out = append(out, p)
		}
	}
	return out
}

// examples compiles the units of the page that describes the language: forms
// that no unit has yet, such as rows that see each other and searches.
func examples(t testing.TB) []*program {
	t.Helper()
	return ofPage(t, filepath.Join(specs, "LANGUAGE.md"))
}

// ofPage compiles the units of one page, which may be beside the pages.
func ofPage(t testing.TB, page string) []*program {
	t.Helper()
	s, ds := gen.Load(specs, page)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var out []*program
	for i, p := range s.Pages {
		if filepath.Base(p.File.Path) != filepath.Base(page) {
			continue
		}
		for _, u := range s.Files[i].Units {
			if v, ds := gen.CompileUnit(s, u); v != nil && !ds.HasErrors() {
				out = append(out, programsOf(t, s, v, u)...)
			}
		}
	}
	return out
}

// ofRandomPages compiles those of the rules of random pages that the compiler takes.
func ofRandomPages(t testing.TB, pages ...*random.Page) []*program {
	t.Helper()
	var files []*source.File
	var names []string
	for _, p := range pages {
		files, names = append(files, source.NewFile(p.Unit+".md", p.Text())), append(names, p.Unit)
	}
	return ofRules(t, files, names)
}

// ofMended compiles the rules of pages on which a target was wrong once.
func ofMended(t testing.TB) []*program {
	t.Helper()
	pages, err := filepath.Glob("../random/testdata/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	var files []*source.File
	var names []string
	for _, p := range pages {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, source.NewFile(filepath.Base(p), string(text)))
		for _, m := range ruleName.FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return ofRules(t, files, names)
}

var ruleName = regexp.MustCompile(`(?m)^rule (\w+)`)

// ofRules compiles those of the rules of pages that the compiler takes.
func ofRules(t testing.TB, files []*source.File, names []string) []*program {
	t.Helper()
	s, _ := gen.LoadWith([]string{specs}, files...)
	var out []*program
	for _, name := range names {
		if v, ds := gen.CompileUnit(s, s.Tree.Units[name]); v != nil && !ds.HasErrors() {
			out = append(out, programsOf(t, s, v, s.Tree.Units[name])...)
		}
	}
	for _, p := range out {
		p.random = true
	}
	return out
}

// programsOf builds the programs of a unit.
func programsOf(t testing.TB, s *gen.Source, u *abi.Unit, unit *notation.Unit) []*program {
	t.Helper()
	blk, ds := check.Instantiate(s.Tree, unit)
	var out []*program
	add := func(name string, f *ir.Func) {
		if f == nil {
			return
		}
		p := &program{name: u.ID + "_" + name, unit: u, blk: blk, f: f}
		if cut := gen.Outline(blk, f); cut != nil {
			out = append(out, &program{name: p.name + "_front", unit: u, blk: blk, f: cut.Function})
			p.f, p.front = cut.Rest, cut.Function
		}
		out = append(out, p)
	}
	switch u.Kind {
	case abi.OpUnit:
		add("op", irbuild.Op(blk, &ds))
	case abi.RuleUnit:
		add("step", irbuild.Rule(blk, &ds))
		add("read", irbuild.Frozen(blk, &ds))
		add("start", irbuild.Start(blk, &ds))
	case abi.UpdateUnit:
		add("step", irbuild.Update(blk, &ds))
		add("step_tall", irbuild.UpdateTall(blk, &ds))
	default:
		for i, s := range irbuild.Compose(blk, &ds).Stages {
			add(fmt.Sprint("stage", i), s.Func)
		}
	}
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	for _, p := range out {
		p.lower(t)
	}
	return slices.DeleteFunc(out, func(p *program) bool { return p.fwd == nil })
}

// lower makes the kernels and their text.
func (p *program) lower(t testing.TB) {
	t.Helper()
	about := emitcuda.About{Unit: p.name, Page: "page.md", Equations: p.unit.Equations}
	if p.unit.Kind == abi.UpdateUnit {
		simplify.Simplify(p.f)
		k, err := lower.Func(p.f)
		if err != nil {
			t.Fatal(err)
		}
		k.Name = "forward"
		p.fwd = emitcuda.Kernel(k, about, p.fixed(k))
		return
	}
	if len(p.f.Results) == 0 {
		return
	}
	if p.unit.Kind == abi.RuleUnit && !strings.HasSuffix(p.name, "_front") {
		p.pair = autodiff.NewPair(p.f)
	} else {
		p.pair = autodiff.NewMixedPair(p.f, func(string) bool { return false })
	}
	fwd, bwd, err := lower.Pair(p.pair)
	if err != nil {
		t.Fatal(err)
	}
	fwd.Name, bwd.Name = "forward", "backward"
	p.fwd = emitcuda.Kernel(fwd, about, p.fixed(fwd))
	if len(p.pair.Bwd.Results) > 0 {
		p.bwd = emitcuda.Kernel(bwd, about, p.fixed(bwd))
	}
}

// fixed are the sizes that are constants of a kernel's text.
func (p *program) fixed(k *plan.Kernel) map[string]int {
	out := map[string]int{}
	for s := range p.sizes(k.Sizes, 0, 0) {
		if !emitcuda.Open(p.unit, s) {
			out[s] = p.sizeOf(s)
		}
	}
	out[emitcuda.BFloat16] = p.narrow
	return out
}

// sizes are those of a trial of so many batches and tokens. A program without
// tokens has entries instead, or rows.
func (p *program) sizes(names []string, batches, tokens int) map[string]int {
	out := map[string]int{}
	for _, s := range names {
		out[s] = p.sizeOf(s)
	}
	if _, ok := out["L"]; ok {
		out["L"] = batches
	}
	if _, ok := out["T"]; ok {
		out["T"] = tokens
	} else if _, ok := out["n"]; ok && p.unit.Kind != abi.RuleUnit {
		out["n"] = tokens
	}
	if m := p.unit.Matrix; m != nil { // wide, and tall
		out[m[0]], out[m[1]] = tokens, p.sizeOf("n")
	}
	return out
}

// texts lists the texts of programs.
func texts(ps []*program) []*emitcuda.Text {
	var out []*emitcuda.Text
	for _, p := range ps {
		out = append(out, p.fwd)
		if p.bwd != nil {
			out = append(out, p.bwd)
		}
	}
	return out
}

// union is all sizes of both kernels of a program, and of the front that makes its inputs.
func (p *program) union(batches, tokens int) map[string]int {
	out := p.sizes(p.fwd.Kernel.Sizes, batches, tokens)
	if p.bwd != nil {
		maps.Copy(out, p.sizes(p.bwd.Kernel.Sizes, batches, tokens))
	}
	if p.front != nil {
		maps.Copy(out, p.sizes(irbuild.Sizes(p.front), batches, tokens))
	}
	return out
}
