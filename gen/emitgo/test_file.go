package emitgo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Test prints the test of a unit: beside an operation, in the package of a rule,
// composition, model or update. With are the units of the trials' formulas.
func Test(u *abi.Unit, trials []*Trial, with Units) map[string][]byte {
	t := &unitTest{newUnitEmitter(u, with), trials}
	switch {
	case len(trials) == 0:
	case u.Kind == abi.OpUnit:
		t.op()
	case u.Kind == abi.UpdateUnit:
		t.update()
	case u.Kind == abi.FunctionUnit:
		t.function()
	default:
		t.block()
		if exemplary(u) {
			t.example()
		}
	}
	return t.files
}

// A unitTest prints the test of one unit.
type unitTest struct {
	*unitEmitter
	trials []*Trial
}

// block prints the test of a rule, composition or model: the table of the
// whole, and the pairs of kernels of its own stages.
func (t *unitTest) block() {
	var b strings.Builder
	b.WriteString(t.testFunc())
	for i, x := range t.trials {
		b.WriteString(t.builder(x, i))
	}
	b.WriteString(t.subject())
	for _, p := range t.pairs() {
		b.WriteString(p.direct() + p.taped())
	}
	_, pkg := Package(t.u)
	t.emit(pkg+"_test.go", b.String())
}

func (t *unitTest) emit(name, text string) {
	f := t.newFile()
	f.Add(t.packages.Code(text))
	t.write(name, f)
}

// doc says which equations a test holds, by their stable ids.
func (t *unitTest) doc() string {
	var ids []string
	for _, e := range t.u.Equations {
		ids = append(ids, e.ID)
	}
	return gotext.Comment(gotext.Wrap(fmt.Sprintf("Test%s holds %s to its page: %s.", t.u.Name, t.u.Name, strings.Join(ids, ", ")), 76))
}

func (t *unitTest) testFunc() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sfunc Test%s(t *testing.T) {\n", t.doc(), t.u.Name)
	for i, x := range t.trials {
		switch {
		case t.u.Kind == abi.ModelUnit:
			b.WriteString(t.modelTable(x, i))
		case len(t.trials) > 1:
			fmt.Fprintf(&b, "\tt.Run(%q, func(t *testing.T) {\n%s})\n", x.label(), t.blockTable(x, i))
		default:
			b.WriteString(t.blockTable(x, i))
		}
	}
	for _, p := range t.pairs() {
		b.WriteString(t.pairTable(p))
	}
	b.WriteString("}\n\n")
	return b.String()
}

func (t *unitTest) modelTable(x *Trial, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\tconformance.Model{\n\t\tName: %q,\n\t\tF64: %s[float64],\n\t\tF32: %s[float32],\n", x.Name, buildName(i), buildName(i))
	x.table(&b)
	x.facts(&b)
	fmt.Fprintf(&b, "\t\tVectors: %q,\n\t}.Test(t)\n", "testdata/"+x.File)
	return b.String()
}

// label names the parts of a trial.
func (x *Trial) label() string {
	var parts []string
	for _, p := range x.Of.Parts {
		parts = append(parts, p.Unit)
	}
	return strings.Join(parts, "+")
}

func (t *unitTest) blockTable(x *Trial, i int) string {
	var b strings.Builder
	build := buildName(i)
	fmt.Fprintf(&b, "\tconformance.Block{\n\t\tName: %q,\n\t\tF64: %s[float64],\n\t\tF32: %s[float32],\n", x.Name, build, build)
	x.table(&b)
	x.facts(&b)
	x.blockFacts(&b, t.units)
	if t.u.Kind == abi.RuleUnit {
		b.WriteString("\t\tWindows: true,\n")
	}
	t.orderOf(&b)
	fmt.Fprintf(&b, "\t\tVectors: %q,\n\t}.Test(t)\n", "testdata/"+x.File)
	return b.String()
}

// orderOf prints the order of the unit where a test has to know it.
func (t *unitTest) orderOf(b *strings.Builder) {
	if n := t.order(); n > leastOrder {
		fmt.Fprintf(b, "\t\tOrder: %d,\n", n)
	}
}

// facts prints what the compiler derived.
func (x *Trial) facts(b *strings.Builder) {
	if x.Causal {
		b.WriteString("\t\tCausal: true,\n")
	}
	if !x.Cuts {
		b.WriteString("\t\tCarries: true,\n")
	}
	x.gates(b)
}

// onlyGates reports whether all adjoints of a pair are of parameters with a stopped
// value on the way.
func (p *pairTest) onlyGates(gates []string) bool {
	for _, buf := range p.bwd.Params {
		if buf.Primal != "" && buf.Role == plan.Write && !slices.Contains(gates, buf.Primal) {
			return false
		}
	}
	return true
}

// gates prints the parameters whose gradient is no derivative.
func (x *Trial) gates(b *strings.Builder) {
	if len(x.Gates) > 0 {
		fmt.Fprintf(b, "\t\tGates: []string{%s},\n", `"`+strings.Join(x.Gates, `", "`)+`"`)
	}
}

// table prints the sizes and tokens.
func (x *Trial) table(b *strings.Builder) {
	b.WriteString("\t\tSizes: []conformance.Sizes{\n")
	for _, z := range x.Sizes {
		var parts []string
		for _, n := range slices.Sorted(maps.Keys(z)) {
			parts = append(parts, fmt.Sprintf("%q: %d", n, z[n]))
		}
		fmt.Fprintf(b, "\t\t\t{%s},\n", strings.Join(parts, ", "))
	}
	var tokens []string
	for _, ts := range x.Tokens {
		tokens = append(tokens, "{"+strings.ReplaceAll(strings.Trim(fmt.Sprint(ts), "[]"), " ", ", ")+"}")
	}
	fmt.Fprintf(b, "\t\t},\n\t\tTokens: [][]int{%s},\n", strings.Join(tokens, ", "))
}

func (t *unitTest) pairTable(p *pairTest) string {
	x := t.trials[0]
	var b strings.Builder
	fmt.Fprintf(&b, "\tconformance.Pair{\n\t\tName: %q,\n\t\tTaped: %sTaped[float64],\n\t\tDirect: %sDirect[float64],\n\t\tDirect32: %sDirect[float32],\n", p.name, p.name, p.name, p.name)
	x.table(&b)
	if p.fwd.Segment != "" {
		b.WriteString("\t\tSegments: true,\n")
	}
	if p.starts {
		b.WriteString("\t\tStarts: true,\n")
	}
	if p.bwd == nil || p.onlyGates(x.Gates) {
		b.WriteString("\t\tFlat: true,\n")
	}
	x.gates(&b)
	t.orderOf(&b)
	if len(t.u.Parts) == 0 {
		fmt.Fprintf(&b, "\t\tVectors: %q,\n", "testdata/"+x.File)
	}
	b.WriteString("\t}.Test(t)\n")
	return b.String()
}

// pairs are the kernel pairs of a unit's own stages. (That of a learned start
// is seen through the step of a young context.)
func (t *unitTest) pairs() []*pairTest {
	var out []*pairTest
	for i := range t.u.Stages {
		st := &t.u.Stages[i]
		if st.Fwd != nil {
			p := newPairTest(t.u, gotext.LowerFirst(st.Name), t.typeName(), st.Pair)
			p.starts = p.stageEmitter.starts()
			out = append(out, p)
		}
		if st.Frozen.Fwd != nil {
			p := newPairTest(t.u, "read", t.typeName(), st.Frozen)
			p.frozen, p.starts = true, st.Start.Fwd != nil
			out = append(out, p)
		}
	}
	return out
}

// buildName is the function that makes the block of trial i.
func buildName(i int) string {
	if i == 0 {
		return "build"
	}
	return fmt.Sprintf("build%d", i+1)
}

// builder prints the function that makes the block of a trial: of a unit
// without parts with any sizes, of one with parts as a catalog makes it.
func (t *unitTest) builder(x *Trial, i int) string {
	var b strings.Builder
	kind := "block.Block[F]"
	if t.u.Kind == abi.ModelUnit {
		kind = "block.Model[F]"
	}
	fmt.Fprintf(&b, "// %s makes %s of the given sizes.\nfunc %s[F num.Float](z conformance.Sizes) (%s, error) {\n", buildName(i), formula(x.Of), buildName(i), kind)
	if len(t.u.Parts) == 0 {
		var fields []string
		for _, s := range t.free() {
			fields = append(fields, fmt.Sprintf("%s: z[%q]", sizeField(s.Name), s.Name))
		}
		fmt.Fprintf(&b, "\treturn &%s[F]{Sizes: Sizes{%s}}, nil\n}\n\n", t.typeName(), strings.Join(fields, ", "))
		return b.String()
	}
	e := &instanceEmitter{units: t.units, b: &b}
	args := []string{"s"}
	if t.u.Kind == abi.ModelUnit {
		fmt.Fprintf(&b, "\ts, _ := z.Split()\n\twidth := z[%q]\n", modelWidth(t.u))
	} else {
		b.WriteString("\ts, width := z.Split()\n")
		args = append(args, "width")
	}
	args = append(args, e.parts(t.u, x.Of, "s")...)
	fmt.Fprintf(&b, "\treturn New(%s), s.Err()\n}\n\n", strings.Join(args, ", "))
	return b.String()
}

// function prints the test of a function: that of its pair of kernels. The block that
// calls it is a stand-in with its parameters and windows alone.
func (t *unitTest) function() {
	var b strings.Builder
	p := newPairTest(t.u, gotext.LowerFirst(t.u.Stages[0].Name), t.typeName(), t.u.Stages[0].Pair)
	p.fn = "Call"
	fmt.Fprintf(&b, "%sfunc Test%s(t *testing.T) {\n%s}\n\n", t.doc(), t.u.Name, t.pairTable(p))
	var fields, slots []string
	for _, s := range t.free() {
		fields = append(fields, fmt.Sprintf("%s: a.Sizes[%q]", sizeField(s.Name), s.Name))
	}
	for i := range t.u.States {
		slots = append(slots, fmt.Sprint(i))
	}
	literal := fmt.Sprintf("Sizes: Sizes{%s}", strings.Join(fields, ", "))
	if len(slots) > 0 {
		literal += fmt.Sprintf(", Slots: [%d]int{%s}", len(slots), strings.Join(slots, ", "))
	}
	fmt.Fprintf(&b, "// caller is a block that is the function and nothing else.\ntype caller[F num.Float] struct{ Function[F] }\n\n")
	fmt.Fprintf(&b, "// subject is the caller that a call's sizes describe.\nfunc subject[F num.Float](a *conformance.Args[F]) *caller[F] {\n\treturn &caller[F]{Function[F]{%s}}\n}\n\n", literal)
	caller := &unitEmitter{u: t.u, units: t.units, receiver: "caller"}
	b.WriteString(caller.declare() + "\n" + caller.memory() + "\n" + p.direct() + p.taped())
	_, pkg := Package(t.u)
	t.emit(pkg+"_test.go", b.String())
}

// subject prints the helper of the pairs.
func (t *unitTest) subject() string {
	return fmt.Sprintf("// subject is the block that a call's sizes describe.\nfunc subject[F num.Float](a *conformance.Args[F]) *%s[F] {\n\tb, err := build[F](a.Sizes)\n\ta.Must(err)\n\treturn b.(*%s[F])\n}\n\n", t.typeName(), t.typeName())
}
