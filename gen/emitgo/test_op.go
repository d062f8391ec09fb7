package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/plan"
)

// op prints the test of an operation: a table, and the two calls of its pair.
func (t *unitTest) op() {
	x := t.trials[0]
	p := newPairTest(t.u, gotext.LowerFirst(t.u.Name), "", t.u.Stages[0].Pair)
	var b strings.Builder
	fmt.Fprintf(&b, "%sfunc Test%s(t *testing.T) {\n\tconformance.Op{\n\t\tTaped: %sTaped[float64],\n\t\tTaped32: %sTaped[float32],\n\t\tDirect: %sDirect[float64],\n\t\tDirect32: %sDirect[float32],\n",
		t.doc(), t.u.Name, p.name, p.name, p.name, p.name)
	if x.Declared {
		b.WriteString("\t\tDeclared: true,\n")
	}
	fmt.Fprintf(&b, "\t\tVectors: %q,\n\t}.Test(t)\n}\n\n", "testdata/"+x.File)
	b.WriteString(p.direct() + p.taped())
	t.emit(t.u.ID+"_test.go", b.String())
}

// update prints the test of an update: a table, and one step.
func (t *unitTest) update() {
	x := t.trials[0]
	settings, clock, flag := t.settingsOf()
	var b strings.Builder
	matrix := ""
	if m := t.u.Matrix; m != nil {
		matrix = fmt.Sprintf("\t\tMatrix: [2]string{%q, %q},\n", m[0], m[1])
	}
	fmt.Fprintf(&b, "%sfunc Test%s(t *testing.T) {\n\tconformance.Update{\n\t\tF64: step[float64],\n\t\tF32: step[float32],\n%s\t\tVectors: %q,\n\t}.Test(t)\n}\n\n",
		t.doc(), t.u.Name, matrix, "testdata/"+x.File)
	hands := ""
	if flag != "" {
		hands += fmt.Sprintf(", a.Int(%q) != 0", flag)
	}
	if m := t.u.Matrix; m != nil {
		hands += fmt.Sprintf(", a.Size(%q), a.Size(%q)", m[0], m[1])
	}
	b.WriteString("// step updates one parameter by the numbers of a case.\nfunc step[F num.Float](r *tape.Run[F], a *conformance.Args[F]) {\n")
	var zs, ss []string
	for _, s := range settings {
		zs = append(zs, fmt.Sprintf("%s: float64(a.Number(%q))", settingField(s.Name), s.Name))
	}
	for _, s := range t.u.States {
		ss = append(ss, fmt.Sprintf("%s: a.Updated(%q)", gotext.Identifier(s.Name, true), s.Name))
	}
	fmt.Fprintf(&b, "\tz := Settings{%s}\n\ts := Slots[F]{%s}\n", strings.Join(zs, ", "), strings.Join(ss, ", "))
	fmt.Fprintf(&b, "\tApply(r, z, a.Int(%q)%s, a.Updated(%q), a.In[%q], s)\n}\n", clock, hands, t.updated(), t.u.Inputs[0].Name)
	_, pkg := Package(t.u)
	t.emit(pkg+"_test.go", b.String())
}

// updated is the parameter that an update changes: what it writes and does not
// keep for itself.
func (t *unitTest) updated() string {
	for _, b := range t.u.Stages[0].Fwd.Params {
		if b.Role == plan.Write && !slices.ContainsFunc(t.u.States, func(s abi.State) bool { return s.Name == b.Of }) {
			return b.Of
		}
	}
	panic("emitgo: BUG: update " + t.u.Name + " changes nothing")
}
