package gen

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
	"github.com/nl-hecate/hecate/gen/tree"
	"github.com/nl-hecate/hecate/gen/units"
	"github.com/nl-hecate/hecate/internal/vectors"
)

// Every generated unit comes with a test, and every test with vectors: what
// the interpreter makes of the unit's program, a whole composition or model as
// one, at a few awkward sizes. The interpreter shares neither loops nor buffers
// with the emitted kernels, so the vectors are a second opinion on everything
// behind the tensor program. (internal/vectors, the text form of the files, is
// the one package that the compiler and the runtime both read.)

// vectorSteps and kernelSteps are the tokens of the cases of a whole unit and
// of a pair of kernels, in step with the sizes of a trial.
var (
	vectorSteps = []int{5, 3, 1}
	kernelSteps = []int{3, 2, 5}
)

// stepsOf are the tokens of a case: those of the table, and of a unit that is
// computed in chunks so many in two of the cases that there are whole ones and a
// rest.
func stepsOf(u *abi.Unit, table []int, i int) int {
	return table[i] + []int{2, 0, 1}[i]*u.Chunk
}

// vectorLanes is their number of lanes.
const vectorLanes = 2

// A testMaker builds the trials of a unit and evaluates them.
type testMaker struct {
	job    *unitCompiler
	files  tree.Files
	units  emitgo.Units // of all trials
	trials []*emitgo.Trial

	functions []*abi.Unit // that have their tests
}

// make adds the unit's tests and vectors to the files. A unit that gives no numbers
// for the numbers that its tests begin with is an error of its page.
func (m *testMaker) make() (ds diag.List) {
	u := m.job.unit
	bad, ds := m.unit()
	if bad != "" {
		ds.Errorf(diag.NotFinite, u.Name.Span, "%s is not finite where every number that goes in lies between −1 and 1", bad).
			Hint("generated tests begin there: guard the function, or widen the range of what is solved for")
	}
	if ds.HasErrors() {
		return ds
	}
	if instanceOf(u) {
		for _, t := range m.trials {
			maps.Copy(m.files, emitgo.InstanceTest(m.job.conf.home(), t, m.job.src.Path(u.Span.File.Path), ident.ID(u.Name.Text), m.units))
		}
		return ds
	}
	maps.Copy(m.files, emitgo.Test(m.units[u.Name.Text], m.trials, m.units))
	return ds
}

// notFinite is the panic of a vector that is no number: what it belongs to.
type notFinite string

// unit adds the trials; it returns what is no number in them.
func (m *testMaker) unit() (bad notFinite, ds diag.List) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case notFinite:
			bad = r
		default:
			panic(r)
		}
	}()
	u := m.job.unit
	formulas := m.job.src.trials(u)
	switch {
	case instanceOf(u):
		formulas = u.Formula.Parts
	case len(units.PartsOf(u)) == 0:
		formulas = []*notation.Apply{named(u)}
	}
	m.units = emitgo.Units{}
	for _, a := range formulas {
		of := Applied(m.job.src.Tree, a)
		units, ud := m.job.units(of)
		if ds.Append(ud); ds.HasErrors() {
			return "", ds
		}
		maps.Copy(m.units, units)
		blk, bd := check.InstantiateFormula(m.job.src.Tree, u.Name.Text, &notation.Formula{Span: a.Span, Parts: []*notation.Apply{a}}, nil)
		if ds.Append(bd); ds.HasErrors() {
			return "", ds
		}
		m.trial(units, of, blk)
	}
	return "", ds
}

// trial adds one formula.
func (m *testMaker) trial(units emitgo.Units, of abi.Applied, blk *check.Block) {
	name := strings.Join(names(of), "_")
	if instanceOf(m.job.unit) {
		name = m.job.unit.Name.Text
	}
	t := emitgo.NewTrial(units, of, name, m.file())
	switch t.Unit.Kind {
	case abi.OpUnit:
		m.op(t, blk)
	case abi.UpdateUnit:
		m.update(t, blk)
	default:
		m.whole(t, blk)
	}
}

// file is the name of the vectors of the next trial.
func (m *testMaker) file() string {
	name := ident.ID(m.job.unit.Name.Text)
	if n := len(m.trials); n > 0 {
		name += fmt.Sprint(n + 1)
	}
	return name + ".txt"
}

// names are the units of a formula in order.
func names(a abi.Applied) []string {
	out := []string{a.Unit}
	for _, p := range a.Parts {
		out = append(out, names(p)...)
	}
	return out
}

// whole adds a trial of a rule, composition or model with the vectors of the
// unit as one program, and those of its kernels where all are its own.
func (m *testMaker) whole(t *emitgo.Trial, blk *check.Block) {
	var ds diag.List
	f := irbuild.Whole(blk, &ds)
	if f == nil || ds.HasErrors() {
		panic("gen: BUG: " + t.Name + " is not one program: " + ds.Error())
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
	whole.run(vectorSteps)
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
func (m *testMaker) kernels(t *emitgo.Trial, out *vectors.File, blk *check.Block, kind string, pair abi.Pair, f *ir.Func) {
	if pair.Function != nil {
		cut := outlined(blk, f)
		m.function(pair.Function, cut.Function)
		f = cut.Rest
	}
	e := &evaluator{trial: t, out: out, kind: kind, pair: newEvaluated(f), kernel: true, frees: irbuild.Frees(blk, f)}
	e.run(kernelSteps)
}

// function adds the tests and vectors of a function.
func (m *testMaker) function(u *abi.Unit, f *ir.Func) {
	if slices.ContainsFunc(m.functions, func(g *abi.Unit) bool { return g.Hash == u.Hash }) {
		return
	}
	m.functions = append(m.functions, u)
	units := emitgo.Units{u.Name: u}
	t := emitgo.NewTrial(units, abi.Applied{Unit: u.Name}, u.Name, u.ID+".txt")
	out := &vectors.File{}
	e := &evaluator{trial: t, out: out, kind: lowerFirst(u.Stages[0].Name), pair: newEvaluated(f), kernel: true}
	e.run(kernelSteps)
	m.write(t, out, u.Page)
	maps.Copy(m.files, emitgo.Test(u, []*emitgo.Trial{t}, units))
}

// add keeps a trial and writes its vectors, those of a formula with a name beside the
// registry.
func (m *testMaker) add(t *emitgo.Trial, v *vectors.File) {
	m.trials = append(m.trials, t)
	m.write(t, v, m.job.src.Path(m.job.unit.Span.File.Path))
}

// write adds the vectors of a trial to the files, as made from a page.
func (m *testMaker) write(t *emitgo.Trial, v *vectors.File, page string) {
	path, _ := emitgo.Package(t.Unit)
	if instanceOf(m.job.unit) {
		path = emitgo.RegistryFolder(m.job.conf.home())
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Code generated by hecategen from %s. DO NOT EDIT.\n", page)
	if err := vectors.Write(&b, v); err != nil {
		panic("gen: BUG: " + err.Error())
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
// and as they are after it, so that no memory gives it in a frozen read.
func mixed(b *check.Block) bool {
	before, after := moments(b)
	return before && after
}

func moments(b *check.Block) (before, after bool) {
	if b.Unit.Kind == notation.RuleUnit {
		before, after = b.ReadTimes()
	}
	for _, eq := range b.Eqs {
		if _, frozen := eq.Value().(*notation.Frozen); frozen {
			before = true
		}
	}
	for _, p := range b.Parts {
		x, y := moments(p.Block)
		before, after = before || x, after || y
	}
	return before, after
}
