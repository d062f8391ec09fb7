// Package vectors makes the tests of generated units, and the vectors that they read: the
// results and gradients of the unit's program in the interpreter, a whole composition or
// model as one program, at a few awkward sizes. The interpreter shares neither loops nor
// buffers with the emitted kernels, so the vectors are an independent check of everything
// after the tensor program. (internal/vectors, the text form of the files, is the one
// package that the compiler and the runtime both read.)
package vectors

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/outline"
	"github.com/nl-hecate/hecate/gen/tree"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// wholeTokens and kernelTokens are the tokens of the cases of a whole unit and
// of a pair of kernels, in step with the sizes of a trial.
var (
	wholeTokens  = []int{5, 3, 1}
	kernelTokens = []int{3, 2, 5}
)

// tokensOf are the tokens of a case: those of the table, and of a unit that is
// computed in chunks enough in two of the cases for whole chunks and a
// rest.
func tokensOf(u *abi.Unit, table []int, i int) int {
	return table[i] + []int{2, 0, 1}[i]*u.Chunk
}

// batchSize is the number of sequences of a case.
const batchSize = 2

// A Unit is a unit whose tests are made.
type Unit struct {
	Name     *notation.Word
	Page     string   // of the unit, as generated files name it
	Home     abi.Home // of the project
	Instance bool     // a formula with a name, whose tests are beside the registry

	// Outline divides a program of a rule into the function of its front and the rest, or
	// returns nil where it has none.
	Outline func(blk *check.Block, f *ir.Func) *outline.Cut
}

// A Formula is a formula that a unit is tested as, with the units that it is made of.
type Formula struct {
	Applied abi.Applied
	Units   emitgo.Units
	Block   *check.Block
}

// Tests returns the tests and vectors of a unit. A unit whose results are not finite for
// the numbers that its tests begin with is an error of its page.
func Tests(u Unit, formulas []Formula) (tree.Files, diag.List) {
	var ds diag.List
	m := &maker{unit: u, files: tree.Files{}, units: emitgo.Units{}}
	if bad := m.trialsOf(formulas); bad != "" {
		ds.Errorf(diag.NotFinite, u.Name.Span, "%s is not finite where every number that goes in lies between −1 and 1", bad).
			Hint("generated tests begin there: guard the function, or widen the range of what is solved for")
		return nil, ds
	}
	if u.Instance {
		for _, t := range m.trials {
			maps.Copy(m.files, emitgo.InstanceTest(u.Home, t, u.Page, ident.ID(u.Name.Text), m.units))
		}
		return m.files, ds
	}
	maps.Copy(m.files, emitgo.Test(m.units[u.Name.Text], m.trials, m.units))
	return m.files, ds
}

// A maker builds the trials of a unit and evaluates them.
type maker struct {
	unit   Unit
	files  tree.Files
	units  emitgo.Units // of all trials
	trials []*emitgo.Trial

	functions []*abi.Unit // that have their tests
}

// notFinite is the panic of a vector that is not finite: its name.
type notFinite string

// trialsOf adds a trial for each formula; it returns the first vector that is not finite.
func (m *maker) trialsOf(formulas []Formula) (bad notFinite) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notFinite:
			bad = r
		default:
			panic(r)
		}
	}()
	for _, f := range formulas {
		maps.Copy(m.units, f.Units)
		m.trial(f)
	}
	return ""
}

// trial adds one formula.
func (m *maker) trial(f Formula) {
	name := strings.Join(f.Applied.Names(), "_")
	if m.unit.Instance {
		name = m.unit.Name.Text
	}
	t := emitgo.NewTrial(f.Units, f.Applied, name, m.file())
	switch t.Unit.Kind {
	case abi.OpUnit:
		m.op(t, f.Block)
	case abi.UpdateUnit:
		m.update(t, f.Block)
	default:
		m.whole(t, f.Block)
	}
}

// file is the name of the vectors of the next trial.
func (m *maker) file() string {
	name := ident.ID(m.unit.Name.Text)
	if n := len(m.trials); n > 0 {
		name += fmt.Sprint(n + 1)
	}
	return name + ".txt"
}

// whole adds a trial of a rule, composition or model with the vectors of the
// unit as one program, and those of its kernels where all are its own.
func (m *maker) whole(t *emitgo.Trial, blk *check.Block) {
	var ds diag.List
	f := irbuild.Whole(blk, &ds)
	if f == nil || ds.HasErrors() {
		panic("vectors: BUG: " + t.Name + " is not one program: " + ds.Error())
	}
	t.Causal, t.Cuts, t.Mixed = causal(blk), len(irbuild.Cuts(f)) > 0, mixed(blk)
	for _, name := range irbuild.Stopped(f) {
		if t.Unit.Kind == abi.ModelUnit && !slices.Contains(t.Gates, name) {
			name = strings.TrimPrefix(name, "block.")
		}
		t.Gates = append(t.Gates, name)
	}
	out := &vectors.File{}
	one := newEvaluated(f)
	whole := &evaluator{trial: t, out: out, kind: "whole", pair: one, starts: startsOf(blk, ""), frees: irbuild.Frees(blk, f)}
	whole.run(wholeTokens)
	for i := range t.Unit.Stages {
		st := &t.Unit.Stages[i]
		if len(t.Unit.Parts) > 0 {
			break
		}
		m.kernels(t, out, blk, lowerFirst(st.Name), st.Pair, f)
		if st.Frozen.Fwd != nil {
			m.kernels(t, out, blk, "read", st.Frozen, irbuild.Frozen(blk, &ds))
		}
	}
	m.add(t, out)
}

// kernels adds the vectors of a pair of kernels, of which f is the program, the function
// that it calls included; the function has a trial of its own.
func (m *maker) kernels(t *emitgo.Trial, out *vectors.File, blk *check.Block, kind string, pair abi.Pair, f *ir.Func) {
	if pair.Function != nil {
		cut := m.unit.Outline(blk, f)
		m.function(pair.Function, cut.Function)
		f = cut.Rest
	}
	e := &evaluator{trial: t, out: out, kind: kind, pair: newEvaluated(f), kernel: true, frees: irbuild.Frees(blk, f)}
	e.run(kernelTokens)
}

// function adds the tests and vectors of a function.
func (m *maker) function(u *abi.Unit, f *ir.Func) {
	if slices.ContainsFunc(m.functions, func(g *abi.Unit) bool { return g.Hash == u.Hash }) {
		return
	}
	m.functions = append(m.functions, u)
	units := emitgo.Units{u.Name: u}
	t := emitgo.NewTrial(units, abi.Applied{Unit: u.Name}, u.Name, u.ID+".txt")
	out := &vectors.File{}
	e := &evaluator{trial: t, out: out, kind: lowerFirst(u.Stages[0].Name), pair: newEvaluated(f), kernel: true}
	e.run(kernelTokens)
	m.write(t, out, u.Page)
	maps.Copy(m.files, emitgo.Test(u, []*emitgo.Trial{t}, units))
}

// add keeps a trial and writes its vectors, those of a formula with a name beside the
// registry.
func (m *maker) add(t *emitgo.Trial, v *vectors.File) {
	m.trials = append(m.trials, t)
	m.write(t, v, m.unit.Page)
}

// write adds the vectors of a trial to the files, as made from a page.
func (m *maker) write(t *emitgo.Trial, v *vectors.File, page string) {
	path, _ := emitgo.Package(t.Unit)
	if m.unit.Instance {
		path = emitgo.RegistryFolder(m.unit.Home)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Code generated by hecategen from %s. DO NOT EDIT.\n", page)
	if err := vectors.Write(&b, v); err != nil {
		panic("vectors: BUG: " + err.Error())
	}
	m.files[path+"/testdata/"+t.File] = b.Bytes()
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// causal reports whether the pages of a block and of all its parts provide it.
func causal(b *check.Block) bool {
	own := b.Unit.Kind == notation.ModelUnit
	for _, p := range b.Provides {
		own = own || !p.Needs && slices.ContainsFunc(p.Marks, func(k *notation.Mark) bool { return k.Name.Text == "Causal" })
	}
	for _, p := range b.Parts {
		own = own && p.Block != nil && causal(p.Block)
	}
	return own
}

// mixed reports whether an answer reads states both as they were before a token
// and as they are after it, so that no memory reproduces it in a frozen read.
func mixed(b *check.Block) bool {
	before, after := readTimes(b)
	return before && after
}

func readTimes(b *check.Block) (before, after bool) {
	if b.Unit.Kind == notation.RuleUnit {
		before, after = b.ReadTimes()
	}
	for _, eq := range b.Eqs {
		if _, frozen := eq.Value().(*notation.Frozen); frozen {
			before = true
		}
	}
	for _, p := range b.Parts {
		x, y := readTimes(p.Block)
		before, after = before || x, after || y
	}
	return before, after
}
