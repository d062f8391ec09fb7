package random_test

import (
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/random"
	"github.com/nl-hecate/hecate/gen/source"
)

// functions is the page of functions that all pages may call.
const functions = "../../specs/algorithms/functions.md"

// A subject is a page with the programs of its unit.
type subject struct {
	page     *random.Page // nil of a page that is kept
	text     string       // of the page
	unit     string
	programs []*program
	refused  diag.List // what the compiler says of the page
	broken   string    // a panic of the compiler
}

// A program is one program of a unit with its kernels.
type program struct {
	name     string // of its kernels: a Go name, and one of all
	of       *subject
	f        *ir.Func
	pair     *ir.Pair
	fwd, bwd *plan.Kernel // bwd may be nil
	blk      *check.Block
}

func (s *subject) seed() uint64 {
	if s.page == nil {
		return 0
	}
	return s.page.Seed
}

// block is the content of the page's fence.
func (s *subject) block() string {
	_, text, _ := strings.Cut(s.text, "```hecate\n")
	return strings.TrimSuffix(strings.TrimSpace(text), "```")
}

// subjects compiles pages.
func subjects(t testing.TB, pages ...*random.Page) []*subject {
	var out []*subject
	for _, p := range pages {
		out = append(out, &subject{page: p, text: p.Text(), unit: p.Unit})
	}
	compile(t, out)
	return out
}

// compile compiles pages of text, all in one tree.
func compile(t testing.TB, all []*subject) {
	t.Helper()
	common, err := filepath.Abs(functions)
	if err != nil {
		t.Fatal(err)
	}
	var files []*source.File
	for _, s := range all {
		files = append(files, source.NewFile(s.unit+".md", s.text))
	}
	src, ds := gen.LoadWith([]string{common}, files...)
	for _, s := range all {
		for _, d := range ds.Sorted() {
			if d.Severity == diag.Error && d.Span.File != nil && d.Span.File.Path == s.unit+".md" {
				s.refused.Add(d)
			}
		}
		if u := src.Tree.Units[s.unit]; u != nil && !s.refused.HasErrors() {
			s.compile(src, u)
		}
	}
}

// compile builds the programs of a unit and lowers them.
func (s *subject) compile(src *gen.Source, u *notation.Unit) {
	defer func() {
		if r := recover(); r != nil {
			s.broken = fmt.Sprintf("%v\n%s", r, stack())
		}
	}()
	blk, ds := check.Instantiate(src.Tree, u)
	if s.refused.Append(ds); s.refused.HasErrors() {
		return
	}
	add := func(name string, f *ir.Func) {
		if f != nil && !s.refused.HasErrors() && len(f.Results) > 0 {
			s.programs = append(s.programs, &program{name: s.unit + name, of: s, f: f, blk: blk})
		}
	}
	switch u.Kind {
	case notation.OpUnit:
		add("Op", irbuild.Op(blk, &s.refused))
	case notation.RuleUnit:
		add("Step", irbuild.Rule(blk, &s.refused))
		add("Read", irbuild.Frozen(blk, &s.refused))
		add("Start", irbuild.Start(blk, &s.refused))
	default:
		if p := irbuild.Compose(blk, &s.refused); p != nil {
			for i, st := range p.Stages {
				add(fmt.Sprint("Stage", i), st.Func)
			}
		}
	}
	if s.refused.HasErrors() {
		return
	}
	for _, p := range s.programs {
		p.lower()
	}
}

// lower makes the kernels of a program.
func (p *program) lower() {
	p.pair = autodiff.NewPair(p.f)
	for _, f := range []*ir.Func{p.pair.Fwd, p.pair.Bwd} {
		if err := ir.Verify(f); err != nil {
			panic(err)
		}
	}
	var err error
	if p.fwd, p.bwd, err = lower.Pair(p.pair); err != nil {
		p.of.refused.Errorf(diag.NotLowered, p.blk.Unit.Name.Span, "%v", err)
		return
	}
	p.fwd.Name, p.bwd.Name = p.name, p.name+"Backward"
	if len(p.pair.Bwd.Results) == 0 {
		p.bwd = nil
	}
}

func (p *program) kernels() []*plan.Kernel {
	return slices.DeleteFunc([]*plan.Kernel{p.fwd, p.bwd}, func(k *plan.Kernel) bool { return k == nil })
}

// stack is where a panic began: the frames of the compiler.
func stack() string {
	var out []string
	lines := strings.Split(string(debug.Stack()), "\n")
	for i, l := range lines {
		if strings.Contains(l, "/gen/") && !strings.Contains(l, "_test.go") && i > 0 {
			out = append(out, strings.TrimSpace(l))
		}
	}
	return strings.Join(out[:min(len(out), 12)], "\n")
}
