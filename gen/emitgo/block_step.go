package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// width is the size of a token's vector: the last dimension of the input.
func (e *unitEmitter) width() shape.Poly {
	d := e.u.Inputs[0].Dims
	return d[len(d)-1]
}

// outputWidth is the last dimension of what the block gives.
func (e *unitEmitter) outputWidth() shape.Poly {
	for i := len(e.u.Stages) - 1; i >= 0; i-- {
		st := e.u.Stages[i]
		if st.Fwd == nil {
			continue
		}
		if b := st.Fwd.Result(e.u.Outputs[0]); b != nil {
			return b.Dims[len(b.Dims)-1]
		}
	}
	return e.width()
}

// A fixedSize is a size that the width decides: it is the width itself, or the width over
// times · by.
type fixedSize struct {
	by    string // another free size, "" for the width itself
	times int
}

// fixedSizes are the sizes that the width decides: those of the input's and of
// the output's vectors. Of a product, the last free factor is the width over the others.
func (e *unitEmitter) fixedSizes() map[string]fixedSize {
	out := map[string]fixedSize{}
	if e.u.Kind == abi.ModelUnit {
		return out
	}
	for _, w := range []shape.Poly{e.width(), e.outputWidth()} {
		if s, ok := w.Symbol(); ok {
			out[s] = fixedSize{}
			continue
		}
		for _, s := range e.u.Sizes {
			if len(s.Product) == 2 && s.Value.Equal(w) {
				if last, times, ok := otherFactor(w, s.Product[0]); ok {
					out[last] = fixedSize{s.Product[0], times}
				}
			}
		}
	}
	return out
}

// otherFactor takes a product times · by · last of two sizes apart.
func otherFactor(product shape.Poly, by string) (last string, times int, ok bool) {
	ms := product.Monomials()
	if len(ms) != 1 || len(ms[0].Syms) != 2 {
		return "", 0, false
	}
	for _, s := range product.Symbols() {
		if s != by {
			last = s
		}
	}
	one := map[string]int{by: 1, last: 1}
	times, err := product.Eval(one)
	return last, times, err == nil
}

// blockStep prints Step or Read: the stages in order.
func (e *unitEmitter) blockStep(method string) string {
	var b strings.Builder
	doc := "Step runs the block over the call's tokens and moves its memory on."
	if method == "Read" {
		doc = "Read runs the block with its memory rules frozen."
	}
	fmt.Fprintf(&b, "// %s\nfunc (b *Block[F]) %s(c block.Call[F], w block.Weights[F], m *block.Memory[F], %s tape.Value[F]) (_ tape.Value[F], err error) {\n",
		doc, method, argName(e.u.Inputs[0].Name))
	e.body(&b, method)
	b.WriteString("}\n")
	return b.String()
}

// body calls stages and parts. Each stage's method returns its outputs in the
// order of its kernel; the last one, or part, gives what the unit returns.
func (e *unitEmitter) body(b *strings.Builder, method string) {
	for i, st := range e.u.Stages {
		last := i == len(e.u.Stages)-1
		if st.Call != abi.NoCall {
			e.partCall(b, st, method, last)
			continue
		}
		p, fn := st.Pair, gotext.LowerFirst(st.Name)
		if method == "Read" && st.Frozen.Fwd != nil {
			p, fn = st.Frozen, "read"
		}
		s := &stageEmitter{u: e.u, fwd: p.Fwd, bwd: p.Bwd}
		var args []string
		for _, in := range s.inputs() {
			args = append(args, argName(in.Of))
		}
		if p.Function != nil {
			e.functionCall(b, p.Function, method)
		} else if fn == "read" {
			e.checkUnread(b, args)
		}
		call := fmt.Sprintf("b.%s(%s)", fn, strings.Join(append([]string{"c", "w", "m"}, args...), ", "))
		if last {
			fmt.Fprintf(b, "\treturn %s\n", call)
			continue
		}
		var outs []string
		for _, o := range s.outputs() {
			outs = append(outs, argName(o.Of))
		}
		fmt.Fprintf(b, "\t%s, err := %s\n\tif err != nil {\n\t\treturn\n\t}\n", strings.Join(outs, ", "), call)
	}
}

// partCall prints the call of a part or of the parts of a list.
func (e *unitEmitter) partCall(b *strings.Builder, st abi.Stage, method string, last bool) {
	part := gotext.Identifier(st.Part, true)
	call := ""
	switch {
	case st.Call == abi.OpensLevels:
		if method == "Step" { // a frozen call writes nothing
			fmt.Fprintf(b, "\tb.%s.Open(m, %s)\n", part, argName(st.Gate))
		}
		return
	case st.Call == abi.EachPart && st.Apart:
		call = fmt.Sprintf("b.%s.ReadAtSite(c, w, m, %s)", part, argName(st.Arg))
	case st.Call == abi.EachPart:
		call = fmt.Sprintf("b.%s.%s(c, w, m, %s)", part, method, argName(st.Arg))
	case st.Call == abi.ChainParts:
		call = fmt.Sprintf("b.%s.%sChain(c, w, m, %s)", part, method, argName(st.Arg))
	case st.Call == abi.ResidualChain:
		call = fmt.Sprintf("b.%s.%sResiduals(c, w, m, %s)", part, method, argName(st.Arg))
	default:
		memory, weights := fmt.Sprintf("m.PartOf(%q)", st.Part), fmt.Sprintf("w.Part(%q)", st.Part)
		if e.u.Kind == abi.ModelUnit {
			weights = "w"
		}
		if st.Apart {
			memory, method = fmt.Sprintf("m.SiteOf(%q)", st.Part), "Read"
		}
		call = fmt.Sprintf("b.%s.%s(c, %s, %s, %s)", part, method, weights, memory, argName(st.Arg))
	}
	fmt.Fprintf(b, "\t// %s\n", st.Eq)
	if last {
		fmt.Fprintf(b, "\treturn %s\n", call)
		return
	}
	fmt.Fprintf(b, "\t%s, err := %s\n\tif err != nil {\n\t\treturn\n\t}\n", argName(st.Out), call)
}

// checkUnread compares the lengths of the inputs that a frozen read makes
// nothing of: they are wrong there too.
func (e *unitEmitter) checkUnread(b *strings.Builder, args []string) {
	for _, in := range e.u.Inputs {
		if slices.Contains(args, argName(in.Name)) {
			continue
		}
		n := shape.Sym("L")
		for _, d := range in.Dims {
			n = n.Mul(d)
		}
		lengthCheck(b, e.u.Name, in.Name, argName(in.Name)+".Data", gotext.SizeText(n, blockSize))
	}
}

// modelStep prints a model's Step: ids in, loss and logits out.
func (e *unitEmitter) modelStep() string {
	var b strings.Builder
	var args []string
	for _, in := range e.u.Inputs {
		if in.Elem == ir.Int {
			args = append(args, argName(in.Name))
		}
	}
	last := e.u.Stages[len(e.u.Stages)-1]
	s := &stageEmitter{u: e.u, fwd: last.Fwd, bwd: last.Bwd}
	var outs []string
	for _, o := range s.outputs() {
		outs = append(outs, argName(o.Of))
	}
	fmt.Fprintf(&b, "// Step runs the model over the call's tokens: it returns the loss of each sequence\n// and what the loss was computed from.\nfunc (b *Model[F]) Step(c block.Call[F], w block.Weights[F], m *block.Memory[F], %s []int32) (loss, logits tape.Value[F], err error) {\n", strings.Join(args, ", "))
	// The stages' own names are declared in an inner function, whose results
	// come in the order of the last stage.
	fmt.Fprintf(&b, "\t%s, err := b.stages(c, w, m, %s)\n\treturn loss, %s, err\n}\n\n", strings.Join(outs, ", "), strings.Join(args, ", "), logitsOf(outs))
	var results []string
	for range outs {
		results = append(results, "_ tape.Value[F]")
	}
	fmt.Fprintf(&b, "func (b *Model[F]) stages(c block.Call[F], w block.Weights[F], m *block.Memory[F], %s []int32) (%s, err error) {\n", strings.Join(args, ", "), strings.Join(results, ", "))
	e.body(&b, "Step")
	b.WriteString("}\n")
	return b.String()
}

// logitsOf is what the loss was computed from: the other output.
func logitsOf(outs []string) string {
	for _, o := range outs {
		if o != "loss" {
			return o
		}
	}
	return "loss"
}
