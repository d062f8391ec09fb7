package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A pair of kernels is tested by two functions: one calls forward and backward
// by hand, with every buffer in sight, the other makes the call that records
// itself on a tape.

// A pairTest prints the two functions of one pair.
type pairTest struct {
	*stageEmitter
	name   string      // of the pair: step
	frozen bool        // a state need not have an adjoint
	series []abi.Value // inputs that a function computes
	starts bool        // replaces first states by learned ones
}

// newPairTest knows the names that emission gave to the kernels' fields.
func newPairTest(u *abi.Unit, name, recv string, p abi.Pair) *pairTest {
	s := &stageEmitter{u: u, recv: recv, fn: name, fwd: p.Fwd, bwd: p.Bwd, sizeOf: testSize}
	if recv == "" {
		s.fn, s.sizeOf = u.Name, opSize
	}
	s.fn2 = gokernel.NamesOf(s.fwd, s.fwd.Name)
	if s.bwd != nil {
		s.bn = gokernel.NamesOf(s.bwd, s.bwd.Name)
	}
	t := &pairTest{stageEmitter: s, name: name, frozen: u.Kind == abi.FunctionUnit}
	if p.Function != nil {
		t.series = p.Function.Results
	}
	return t
}

// testSize is a size inside a test function: of the block b, or of the call.
func testSize(size string) string {
	if size == "L" || size == "T" {
		return opSize(size)
	}
	return "b.Sizes." + sizeField(size)
}

// opSize is a size of the table.
func opSize(size string) string { return fmt.Sprintf("a.Size(%q)", size) }

// direct prints the call by hand.
func (p *pairTest) direct() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %sDirect calls the kernels of %s by hand.\nfunc %sDirect[F num.Float](a *conformance.Args[F]) {\n", p.name, p.fn, p.name)
	if p.usesSubject() {
		b.WriteString("\tb := subject(a)\n")
	}
	for _, s := range p.u.States {
		if r := rangeText(s.Domain); r != "" {
			fmt.Fprintf(&b, "\ta.Within(%q, %s)\n", s.Name, r)
		}
	}
	for _, v := range p.series {
		if r := rangeText(v.Domain); r != "" && p.fwd.Param(v.Name) != nil {
			fmt.Fprintf(&b, "\ta.Within(%q, %s)\n", v.Name, r)
		}
	}
	fmt.Fprintf(&b, "\tvar k %s[F]\n", p.fn2.Type)
	p.setSizes(&b, "k", p.fwd, p.fn2)
	for _, buf := range p.fwd.Params {
		p.forwardBuffer(&b, buf)
	}
	testWorkspace(&b, p.fn2, "k")
	b.WriteString("\tk.Run()\n")
	if p.bwd != nil {
		fmt.Fprintf(&b, "\tif a.ForwardOnly {\n\t\treturn\n\t}\n\tvar g %s[F]\n", p.bn.Type)
		p.setSizes(&b, "g", p.bwd, p.bn)
		for _, buf := range p.bwd.Params {
			p.backwardBuffer(&b, buf)
		}
		testWorkspace(&b, p.bn, "g")
		b.WriteString("\tg.Run()\n")
	}
	b.WriteString("}\n\n")
	return b.String()
}

// usesSubject reports whether a size comes from the block.
func (p *pairTest) usesSubject() bool {
	for _, k := range []*plan.Kernel{p.fwd, p.bwd} {
		if k != nil && slices.ContainsFunc(k.Sizes, func(size string) bool { return strings.HasPrefix(p.size(k, size), "b.") }) {
			return true
		}
	}
	return false
}

// size is the value of a kernel's size.
func (p *pairTest) size(k *plan.Kernel, size string) string {
	if size == k.Segment {
		return opSize("C")
	}
	return p.sizeOf(size)
}

func (p *pairTest) setSizes(b *strings.Builder, recv string, k *plan.Kernel, n *gokernel.Names) {
	var fields, vals []string
	for _, size := range k.Sizes {
		fields = append(fields, recv+"."+n.Sizes[size])
		vals = append(vals, p.size(k, size))
	}
	if len(fields) > 0 {
		fmt.Fprintf(b, "\t%s = %s\n", strings.Join(fields, ", "), strings.Join(vals, ", "))
	}
}

func (p *pairTest) length(k *plan.Kernel, n *gokernel.Names, buf *plan.Buffer, recv string) string {
	return gotext.SizeText(buf.Len(), func(size string) string { return p.kernelSize(k, n, size, recv) })
}

// forwardBuffer sets one buffer of the forward: inputs by their names, outputs
// by theirs, and room for what is kept.
func (p *pairTest) forwardBuffer(b *strings.Builder, buf *plan.Buffer) {
	n := p.length(p.fwd, p.fn2, buf, "k.")
	value := fmt.Sprintf("a.Fresh(%s)", n)
	switch {
	case buf.Role == plan.Read:
		value = p.read(buf, n)
	case buf.Elem == ir.Bool:
		value = fmt.Sprintf("a.FreshFlags(%s)", n)
	case buf.Elem == ir.Int:
		value = fmt.Sprintf("make([]int32, %s)", n)
	case buf.Role == plan.Write && p.frozen && (p.state(buf.Of) >= 0 || p.bwd != nil && p.returns(buf.Of)) && p.adjoint(buf.Of) == nil:
		value = fmt.Sprintf("a.Kept(%q, %s)", buf.Of, n)
	case buf.Role == plan.Write && (p.state(buf.Of) >= 0 || p.adjoint(buf.Of) != nil || p.bwd == nil):
		value = fmt.Sprintf("a.Out(%q, %s)", buf.Of, n)
	}
	field := "k." + p.fn2.Buffers[buf]
	if buf.Optional {
		fmt.Fprintf(b, "\tif !a.ForwardOnly {\n\t\t%s = %s\n\t}\n", field, value)
		return
	}
	fmt.Fprintf(b, "\t%s = %s\n", field, value)
}

// read is where a parameter of the forward comes from.
func (p *pairTest) read(buf *plan.Buffer, n string) string {
	switch {
	case buf.Position:
		return fmt.Sprintf("a.Pos(%q, %s)", buf.Of, n)
	case buf.Elem == ir.Int:
		return p.index(buf.Of, n)
	case p.constant(buf.Of), p.fixed(buf.Of), p.frozen && p.state(buf.Of) >= 0 && (p.bwd == nil || p.bwd.AdjointResult(buf.Of) == nil):
		return fmt.Sprintf("a.Const(%q, %s)", buf.Of, n)
	}
	return fmt.Sprintf("a.Real(%q, %s)", buf.Of, n)
}

// fixed reports whether a parameter has no gradient.
func (p *pairTest) fixed(name string) bool {
	return slices.ContainsFunc(p.u.Weights, func(w abi.Weight) bool { return w.Name == name && w.Fixed })
}

func (p *pairTest) index(name, n string) string {
	for _, in := range append(slices.Clone(p.u.Inputs), p.u.Consts...) {
		if in.Name == name && in.HasRange {
			extra := ""
			for _, x := range in.Extra {
				extra += fmt.Sprintf(", %d", x)
			}
			return fmt.Sprintf("a.Index(%q, %s, %s, %s%s)", name, n, gotext.SizeText(in.Lo, p.sizeOf), gotext.SizeText(in.Hi, p.sizeOf), extra)
		}
	}
	return fmt.Sprintf("a.Index(%q, %s, 0, 0)", name, n)
}

func (p *pairTest) backwardBuffer(b *strings.Builder, buf *plan.Buffer) {
	n := p.length(p.bwd, p.bn, buf, "g.")
	name := buf.Primal
	var value string
	switch {
	case buf.Role == plan.Write:
		value = fmt.Sprintf("a.Grad(%q, %s)", name, n)
	case name != "" && buf.Role == plan.Read:
		value = fmt.Sprintf("a.Bar(%q, %s)", name, n)
	default:
		value = "k." + p.forwardField(buf)
	}
	fmt.Fprintf(b, "\tg.%s = %s\n", p.bn.Buffers[buf], value)
}

// testWorkspace gives a call its workspace, filled with NaN.
func testWorkspace(b *strings.Builder, n *gokernel.Names, recv string) {
	for _, w := range n.Work {
		switch w {
		case "Work":
			fmt.Fprintf(b, "\t%s.Work = a.Fresh(%s.WorkLen())\n", recv, recv)
		case "Rows":
			fmt.Fprintf(b, "\t%s.Rows = block.Blocks[[%d]F](a.Fresh(%d * %s.RowsLen()))\n", recv, gokernel.RowBlock, gokernel.RowBlock, recv)
		case "Flags":
			fmt.Fprintf(b, "\t%s.Flags = a.FreshFlags(%s.FlagsLen())\n", recv, recv)
		case "Counts":
			fmt.Fprintf(b, "\t%s.Counts = make([]int32, %s.CountsLen())\n", recv, recv)
		case "RowFlags":
			fmt.Fprintf(b, "\t%s.RowFlags = block.Blocks[[%d]bool](a.FreshFlags(%d * %s.RowFlagsLen()))\n", recv, gokernel.RowBlock, gokernel.RowBlock, recv)
		}
	}
}

// taped prints the call that records itself.
func (p *pairTest) taped() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %sTaped calls %s as a node of the tape.\nfunc %sTaped[F num.Float](r *tape.Run[F], a *conformance.Args[F]) error {\n", p.name, p.fn, p.name)
	call, args := "b."+p.fn, []string{"a.Call(r)", "a.Weights(r, b)", "a.Memory(b)"}
	if p.recv == "" {
		z := []string{"Batch: " + opSize("L")}
		for _, s := range free(p.u) {
			z = append(z, sizeField(s.Name)+": "+opSize(s.Name))
		}
		call, args = p.fn, []string{"r", "r.Pulse", fmt.Sprintf("%sSizes{%s}", p.fn, strings.Join(z, ", "))}
	} else {
		b.WriteString("\tb := subject(a)\n")
	}
	var outs []string
	gives := ""
	for i, o := range p.outputs() {
		outs = append(outs, fmt.Sprintf("out%d", i+1))
		gives += fmt.Sprintf("\ta.SetOutput(%q, out%d)\n", o.Of, i+1)
	}
	fmt.Fprintf(&b, "\t%s := %s(%s)\n%s\treturn err\n}\n\n", strings.Join(append(outs, "err"), ", "), call,
		strings.Join(append(args, p.inputArgs()...), ", "), gives)
	return b.String()
}

// inputArgs are the inputs and constants of the recording call, in the order of
// its signature.
func (p *pairTest) inputArgs() []string {
	var args []string
	for _, in := range p.inputs() {
		if in.Elem == ir.Int {
			args = append(args, fmt.Sprintf("a.Ints[%q]", in.Of))
		} else {
			args = append(args, fmt.Sprintf("a.Value(r, %q)", in.Of))
		}
	}
	for _, c := range p.u.Consts {
		switch buf := p.fwd.Param(c.Name); {
		case buf == nil:
		case c.Elem == ir.Int:
			args = append(args, fmt.Sprintf("a.Int(%q)", c.Name))
		case c.Elem == ir.Bool:
			args = append(args, fmt.Sprintf("a.Int(%q) != 0", c.Name))
		case len(c.Dims) > 0:
			args = append(args, fmt.Sprintf("a.In[%q]", c.Name))
		default:
			args = append(args, fmt.Sprintf("a.Number(%q)", c.Name))
		}
	}
	return args
}
