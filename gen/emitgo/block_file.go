package emitgo

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/shape"
)

// block prints a rule, composition or model: its sizes, its parameters and
// memory, and one method for each stage.
func (e *unitEmitter) block() {
	e.mainFile()
	for i := range e.u.Stages {
		st := &e.u.Stages[i]
		if st.Fwd != nil {
			e.stageFile(st.Name, st.Pair)
		}
		if st.Frozen.Fwd != nil {
			e.stageFile("Read", st.Frozen)
		}
		if st.Start.Fwd != nil {
			e.stageFile("Start", st.Start)
		}
	}
}

func (e *unitEmitter) typeName() string {
	if e.receiver != "" {
		return e.receiver
	}
	switch e.u.Kind {
	case abi.ModelUnit:
		return "Model"
	case abi.FunctionUnit:
		return "Function"
	}
	return "Block"
}

func (e *unitEmitter) stageFile(name string, p abi.Pair) {
	f := e.newFile()
	fn := gotext.LowerFirst(name)
	f.Add(gotext.Code(nodeKind(fn + "Kind")))
	s := &stageEmitter{u: e.u, file: f, fused: e.newFile(), recv: e.typeName(), fn: fn, node: fn + "Node", kind: fn + "Kind", fwd: p.Fwd, bwd: p.Bwd, needs: p.Needs,
		sizeOf: blockSize, start: name == "Start", frozen: name == "Read", checked: p.Function != nil}
	s.emit()
	e.write(strings.ToLower(name)+".go", f)
	e.writeFused(strings.ToLower(name), s)
}

// blockSize is a size inside a block's methods.
func blockSize(size string) string {
	switch size {
	case "L":
		return "c.Batch"
	case "T":
		return "c.Tokens"
	}
	return "b.Sizes." + sizeField(size)
}

func (e *unitEmitter) mainFile() {
	f := e.newFile()
	_, pkg := Package(e.u)
	f.PackageComment(fmt.Sprintf("// Package %s is %s as its page says it.\n%s", pkg, e.u.Name, strings.TrimRight(e.header(), "\n")))
	f.Add(gotext.Code(e.sizesType("Sizes", false)))
	f.Add(gotext.Code(e.blockType()))
	f.Add(e.packages.Code(e.functionKernels()))
	f.Add(gotext.Code(e.constructor()))
	f.Add(gotext.Code(e.declare()))
	f.Add(gotext.Code(e.memory()))
	f.Add(gotext.Code(e.entry()))
	if e.u.Kind == abi.ModelUnit {
		f.Add(gotext.Code(e.modelStep()))
	} else {
		f.Add(e.packages.Code(e.blockStep("Step")))
		f.Add(e.packages.Code(e.blockStep("Read")))
	}
	e.write(pkg+".go", f)
}

// blockType prints the struct with the parts.
func (e *unitEmitter) blockType() string {
	var b strings.Builder
	t := e.typeName()
	fmt.Fprintf(&b, "// %s is %s with its sizes", t, e.u.Name)
	if len(e.u.Parts) > 0 {
		b.WriteString(" and parts")
	}
	fmt.Fprintf(&b, ".\ntype %s[F num.Float] struct {\n\tSizes Sizes\n", t)
	for _, p := range e.u.Parts {
		fmt.Fprintf(&b, "\t%s block.%s[F]\n", gotext.Identifier(p.Name, true), map[bool]string{false: "Block", true: "List"}[p.Count != ""])
	}
	fmt.Fprintf(&b, "}\n\n// Name is the name of the page's unit.\nfunc (b *%s[F]) Name() string { return %q }\n", t, e.u.Name)
	if e.u.Kind == abi.ModelUnit {
		fmt.Fprintf(&b, "\n// Vocabulary is how many ids there are.\nfunc (b *%s[F]) Vocabulary() int { return %s }\n", t, gotext.SizeText(e.u.Inputs[0].Hi, blockSize)+" + 1")
		return b.String()
	}
	fmt.Fprintf(&b, "\n// Width is the size of one token's vector.\nfunc (b *%s[F]) Width() int { return %s }\n", t, gotext.SizeText(e.width(), blockSize))
	return b.String()
}

// constructor prints New: it takes the sizes that the composition decides from
// the width, the others from the table, and makes sure that all are possible.
func (e *unitEmitter) constructor() string {
	var b strings.Builder
	t := e.typeName()
	args := []string{"s block.Sizes"}
	if e.u.Kind != abi.ModelUnit {
		args = append(args, "width int")
	}
	for _, p := range e.u.Parts {
		args = append(args, argName(p.Name)+map[bool]string{false: " block.Block[F]", true: " []block.Block[F]"}[p.Count != ""])
	}
	fmt.Fprintf(&b, "// New makes %s of the given sizes. What is wrong with them is in s.Err.\nfunc New[F num.Float](%s) *%s[F] {\n\tvar z Sizes\n", e.u.Name, strings.Join(args, ", "), t)
	fixed := e.fixedSizes()
	divisors := map[string]bool{}
	for _, x := range fixed {
		divisors[x.by] = true
	}
	for _, s := range e.free() {
		f := sizeField(s.Name)
		x, decided := fixed[s.Name]
		switch {
		case s.Counts != "":
			fmt.Fprintf(&b, "\tz.%s = len(%s)\n\ts.AtLeast(%q, z.%s, 1)\n", f, argName(s.Counts), s.Counts, f)
		case decided && x.by == "":
			fmt.Fprintf(&b, "\tz.%s = s.Fixed(%q, width)\n", f, s.Name)
		case decided && x.times == 1:
			fmt.Fprintf(&b, "\tz.%s = s.Divide(width, %q, z.%s)\n", f, x.by, sizeField(x.by))
		case decided:
			fmt.Fprintf(&b, "\tz.%s = s.DivideBy(width, %d, %q, z.%s)\n", f, x.times, x.by, sizeField(x.by))
		default:
			fmt.Fprintf(&b, "\tz.%s = s.Get(%q, %d, %d)\n", f, s.Name, s.Default, s.Least)
			if e.u.Kind == abi.RuleUnit && divisors[s.Name] {
				fmt.Fprintf(&b, "\ts = s.Split(z.%s)\n", f) // the other sizes are those of a head
			}
		}
	}
	fmt.Fprintf(&b, "\treturn &%s[F]{Sizes: z", t)
	for _, p := range e.u.Parts {
		fmt.Fprintf(&b, ", %s: %s", gotext.Identifier(p.Name, true), partValue(p))
	}
	b.WriteString("}\n}\n")
	return b.String()
}

// declare prints the parameter table.
func (e *unitEmitter) declare() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Declare adds the parameters of %s to the table.\nfunc (b *%s[F]) Declare(s *context.ParamSet[F], prefix string) error {\n", e.u.Name, e.typeName())
	if len(e.u.Weights) > 0 {
		b.WriteString("\tfor _, p := range []context.Param{\n")
		for _, w := range e.u.Weights {
			var dims []string
			for _, d := range w.Dims {
				dims = append(dims, gotext.SizeText(d, blockSize))
			}
			fixed := ""
			if w.Fixed {
				fixed = "Fixed: true, "
			}
			if w.Entries {
				fixed = "Entrywise: true, " + fixed
			}
			init := initText(w.Init)
			if w.Init.Kind == abi.Levels && len(w.Dims) == 1 && e.counts(w.Dims[0]) {
				init = fmt.Sprintf("context.Init{Kind: context.Values, List: context.EachLevel(%s, %s)}", dims[0], floats(w.Init.Levels))
			}
			fmt.Fprintf(&b, "\t\t{Name: prefix + %q, Shape: tensor.Shape{%s}, NoDecay: %v, %sInit: %s},\n", w.Name, strings.Join(dims, ", "), w.NoDecay, fixed, init)
		}
		b.WriteString("\t} {\n\t\tif err := s.Add(p); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n")
	}
	for _, p := range e.u.Parts {
		if p.Count != "" {
			fmt.Fprintf(&b, "\tif err := b.%s.Declare(s, prefix); err != nil {\n\t\treturn err\n\t}\n", gotext.Identifier(p.Name, true))
			continue
		}
		fmt.Fprintf(&b, "\tif err := b.%s.Declare(s, prefix+%q); err != nil {\n\t\treturn err\n\t}\n", gotext.Identifier(p.Name, true), partPrefix(p, e.u))
	}
	b.WriteString("\treturn nil\n}\n")
	return b.String()
}

// counts reports whether a size is the number of parts of a list.
func (e *unitEmitter) counts(size shape.Poly) bool {
	return slices.ContainsFunc(e.u.Sizes, func(s abi.Size) bool { return s.Counts != "" && s.Value.Equal(size) })
}

// partValue makes a list of a constructor's argument.
func partValue(p abi.Part) string {
	if p.Count == "" {
		return argName(p.Name)
	}
	v := fmt.Sprintf("block.NewList(%q, %s)", p.Name, argName(p.Name))
	if p.Levels {
		v += fmt.Sprintf(".%s(%s)", map[bool]string{false: "Levels", true: "Gated"}[p.Gated], numbers(p.Periods))
	}
	return v
}

func numbers(ns []int) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(ns), "[]"), " ", ", ")
}

// partPrefix precedes the names of a part's parameters. The one block of a
// model has none, so that its parts are attention.W_Q, not block.attention.W_Q.
func partPrefix(p abi.Part, u *abi.Unit) string {
	if u.Kind == abi.ModelUnit {
		return ""
	}
	return p.Name + "."
}

func initText(i abi.Init) string {
	switch i.Kind {
	case abi.Levels:
		return fmt.Sprintf("context.Init{Kind: context.Constant, A: s.ByLevel(%s)}", floats(i.Levels))
	case abi.Uniform:
		return fmt.Sprintf("context.Init{Kind: context.Uniform, A: %s, B: %s%s}", sizeExprText(i.A), sizeExprText(i.B), streamText(i))
	case abi.Normal:
		return fmt.Sprintf("context.Init{Kind: context.Normal, A: %s, B: %s%s}", sizeExprText(i.A), sizeExprText(i.B), streamText(i))
	}
	return fmt.Sprintf("context.Init{Kind: context.Constant, A: %s}", sizeExprText(i.A))
}

// floats prints numbers as arguments.
func floats(xs []float64) string {
	var out []string
	for _, x := range xs {
		out = append(out, fmt.Sprint(x))
	}
	return strings.Join(out, ", ")
}

// streamText is the stream of a parameter that is drawn from its own seed.
func streamText(i abi.Init) string {
	if i.Stream == "" {
		return ""
	}
	return fmt.Sprintf(", Stream: %q, Seed: %d", i.Stream, i.Seed)
}

func sizeExprText(x abi.SizeExpr) string {
	arg := func(i int) string { return sizeExprText(x.Args[i]) }
	switch x.Op {
	case "size":
		return "float64(" + gotext.SizeText(x.Size, blockSize) + ")"
	case "neg":
		return "-" + arg(0)
	case "sqrt":
		return "math.Sqrt(" + arg(0) + ")"
	case "add", "sub", "mul", "div":
		return "(" + arg(0) + map[string]string{"add": " + ", "sub": " - ", "mul": "*", "div": "/"}[x.Op] + arg(1) + ")"
	}
	return fmt.Sprint(x.Num)
}

// rowsField is how a slot names the set of its rows.
var rowsField = map[abi.RowSet]string{abi.UnitRows: ", Rows: block.UnitRows", abi.Distributions: ", Rows: block.Distributions"}

// rangeField is how a slot names the range of its entries.
func rangeField(d *abi.Domain) string {
	if r := rangeText(d); r != "" {
		return ", Range: " + r
	}
	return ""
}

// rangeText is a block.Range, or "".
func rangeText(d *abi.Domain) string {
	switch {
	case d == nil || math.IsInf(d.Lo, -1) && math.IsInf(d.Hi, 1):
		return ""
	case math.IsInf(d.Hi, 1):
		return fmt.Sprintf("block.AtLeast(%v)", d.Lo)
	case math.IsInf(d.Lo, -1):
		return fmt.Sprintf("block.AtMost(%v)", d.Hi)
	}
	return fmt.Sprintf("block.Between(%v, %v)", d.Lo, d.Hi)
}

// memory prints the context memory of new contexts.
func (e *unitEmitter) memory() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// NewMemory makes the context memory of a new context for every sequence.\nfunc (b *%s[F]) NewMemory(batch int) *block.Memory[F] {\n", e.typeName())
	b.WriteString("\tm := block.NewMemory(batch")
	for _, s := range e.u.States {
		var dims []string
		for _, d := range s.Dims {
			dims = append(dims, gotext.SizeText(d, blockSize))
		}
		tail := ""
		if s.Tail {
			tail = ", Window: true"
		}
		fmt.Fprintf(&b, ",\n\t\tblock.Slot[F]{Name: %q, Shape: []int{%s}%s%s%s}", s.Name, strings.Join(dims, ", "), rowsField[s.Rows], rangeField(s.Domain), tail)
	}
	if len(e.u.States) == 0 {
		b.Reset()
		fmt.Fprintf(&b, "// NewMemory makes the context memory of a new context for every sequence.\nfunc (b *%s[F]) NewMemory(batch int) *block.Memory[F] {\n\tm := block.NewMemory[F](batch", e.typeName())
	}
	b.WriteString(")\n")
	if e.u.Chunk > 0 {
		fmt.Fprintf(&b, "\tm.Chunk = %d\n", e.u.Chunk)
	}
	for _, p := range e.u.Parts {
		if p.Count != "" {
			fmt.Fprintf(&b, "\tb.%s.Memory(m, batch, %v)\n", gotext.Identifier(p.Name, true), p.Site)
			continue
		}
		if p.Site {
			fmt.Fprintf(&b, "\tm.AddSite(%q, b.%s.NewMemory(batch))\n", p.Name, gotext.Identifier(p.Name, true))
		}
		fmt.Fprintf(&b, "\tm.Parts = append(m.Parts, block.Part[F]{Name: %q, Memory: b.%s.NewMemory(batch)})\n", p.Name, gotext.Identifier(p.Name, true))
	}
	b.WriteString("\treturn m\n}\n")
	return b.String()
}
