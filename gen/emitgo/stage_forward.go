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

// forward prints the function that fills and runs the forward's call.
func (s *stageEmitter) forward() {
	var b strings.Builder
	s.forwardDoc(&b)
	results := s.results()
	sig := s.signature()
	fmt.Fprintf(&b, "func %s(%s) (%s) {\n", s.head(), sig, strings.Join(append(results, "err error"), ", "))
	s.checks(&b)
	s.learnedStart(&b)
	s.openNode(&b)
	s.fill(&b)
	s.run(&b)
	b.WriteString("}\n")
	s.file.Add(gotext.Code(b.String()))
}

func (s *stageEmitter) forwardDoc(b *strings.Builder) {
	fmt.Fprintf(b, "// %s computes\n//\n", s.fn)
	used := map[string]bool{}
	for _, st := range s.fwd.Body {
		plan.Walk([]plan.Node{st}, func(n plan.Node) {
			if note, ok := n.(*plan.Note); ok {
				for _, e := range note.Eqs {
					used[e] = true
				}
			}
		})
	}
	for _, e := range s.u.Equations {
		if used[e.ID] || s.u.Kind == abi.OpUnit {
			for line := range strings.SplitSeq(e.Text, "\n") {
				fmt.Fprintf(b, "//\t%s", strings.TrimRight(line, " \r"))
				if line == firstLine(e.Text) {
					fmt.Fprintf(b, "    %s", e.ID)
				}
				b.WriteString("\n")
			}
		}
	}
	b.WriteString("//\n")
	b.WriteString(gotext.Comment(gotext.Wrap(s.shapes(), 76)))
}

func firstLine(s string) string {
	l, _, _ := strings.Cut(s, "\n")
	return l
}

// shapes says the shape of every input and output in words.
func (s *stageEmitter) shapes() string {
	var parts []string
	for _, b := range s.inputs() {
		parts = append(parts, fmt.Sprintf("%s %s", argName(b.Of), gotext.ShapeText(b)))
	}
	for _, b := range s.outputs() {
		parts = append(parts, fmt.Sprintf("%s %s", b.Of, gotext.ShapeText(b)))
	}
	return "Shapes: " + strings.Join(parts, "; ") + ". Source: " + s.u.Page + "."
}

// head is the receiver and name of the forward.
func (s *stageEmitter) head() string {
	if s.recv == "" {
		return s.fn + "[F num.Float]"
	}
	return fmt.Sprintf("(b *%s[F]) %s", s.recv, s.fn)
}

func (s *stageEmitter) signature() string {
	var ps []string
	if s.recv == "" {
		ps = append(ps, "r *tape.Run[F]", "p pulse.Pulse", "z "+s.fn+"Sizes")
	} else {
		ps = append(ps, "c block.Call[F]", "w block.Weights[F]", "m *block.Memory[F]")
	}
	for _, b := range s.inputs() {
		t := "tape.Value[F]"
		if b.Elem == ir.Int {
			t = "[]int32"
		}
		ps = append(ps, argName(b.Of)+" "+t)
	}
	for _, c := range s.u.Consts {
		if b := s.fwd.Param(c.Name); b != nil {
			t := "F"
			switch {
			case c.Elem == ir.Int:
				t = "int"
			case c.Elem == ir.Bool:
				t = "bool"
			case len(c.Dims) > 0:
				t = "[]F"
			}
			ps = append(ps, argName(c.Name)+" "+t)
		}
	}
	return strings.Join(ps, ", ")
}

func (s *stageEmitter) results() []string {
	var out []string
	for _, o := range s.outputs() {
		out = append(out, resultName(o.Of)+" tape.Value[F]")
	}
	return out
}

func resultName(name string) string {
	n := argName(name)
	if n == "err" {
		return "errOut"
	}
	return n + "Out"
}

// checks compares lengths and index ranges before anything is computed.
func (s *stageEmitter) checks(b *strings.Builder) {
	if s.checked {
		return
	}
	name := fmt.Sprintf("%q", s.u.Name)
	if s.recv != "" {
		fmt.Fprintf(b, "\tif err = c.Check(%s, m); err != nil {\n\t\treturn\n\t}\n", name)
	}
	for _, buf := range s.inputs() {
		arg := argName(buf.Of)
		data := arg + ".Data"
		if buf.Elem == ir.Int {
			data = arg
		}
		want := gotext.SizeText(buf.Len(), s.sizeOf)
		lengthCheck(b, s.u.Name, buf.Of, data, want)
		if buf.Elem != ir.Int {
			continue
		}
		for _, in := range s.u.Inputs {
			if in.Name == buf.Of && in.HasRange {
				s.rangeCheck(b, in, arg)
			}
		}
	}
	for _, in := range s.u.Consts {
		if in.Elem == ir.Int && in.HasRange {
			s.rangeCheck(b, in, "[]int{"+argName(in.Name)+"}")
		}
	}
}

// lengthCheck refuses a value of another length.
func lengthCheck(b *strings.Builder, unit, value, data, want string) {
	fmt.Fprintf(b, "\tif len(%s) != %s {\n\t\terr = &block.LengthError{Block: %q, Value: %q, Got: len(%s), Want: %s}\n\t\treturn\n\t}\n",
		data, want, unit, value, data, want)
}

// rangeCheck refuses an index outside the range that the page gives it.
func (s *stageEmitter) rangeCheck(b *strings.Builder, in abi.Value, ids string) {
	extra := ""
	for _, x := range in.Extra {
		extra += fmt.Sprintf(", %d", x)
	}
	fmt.Fprintf(b, "\tif err = block.CheckIndices(%q, %s, %s, %s%s); err != nil {\n\t\treturn\n\t}\n", in.Name, ids,
		gotext.SizeText(in.Lo, s.sizeOf), gotext.SizeText(in.Hi, s.sizeOf), extra)
}

func (s *stageEmitter) runExpr() string {
	if s.recv == "" {
		return "r"
	}
	return "c.Run"
}

// openNode takes a node from the tape; one without a backward is a slot.
func (s *stageEmitter) openNode(b *strings.Builder) {
	r, take := s.runExpr(), "Push"
	if s.bwd == nil {
		take = "Slot"
	}
	fmt.Fprintf(b, "\tn := tape.%s[F, %s[F]](%s, %s)\n\tk, arena := &n.call, %s.Arena\n\tmark := arena.Mark()\n", take, s.node, r, s.kind, r)
	var fields, vals []string
	for _, size := range s.fwd.Sizes {
		fields = append(fields, "k."+s.fn2.Sizes[size])
		vals = append(vals, s.sizeExpr(s.fwd, size))
	}
	if len(fields) > 0 {
		fmt.Fprintf(b, "\t%s = %s\n", strings.Join(fields, ", "), strings.Join(vals, ", "))
	}
}

// sizeExpr is the value of a kernel's size.
func (s *stageEmitter) sizeExpr(k *plan.Kernel, size string) string {
	if size == k.Segment {
		return s.segment()
	}
	return s.sizeOf(size)
}

// fill sets every buffer of the forward's call.
func (s *stageEmitter) fill(b *strings.Builder) {
	for _, v := range s.values() {
		if s.bwd != nil {
			fmt.Fprintf(b, "\tn.%s = %s\n\tk.%s = arena.Data(n.%s)\n", v.field, v.expr, s.fn2.Buffers[v.buf], v.field)
		} else {
			fmt.Fprintf(b, "\tk.%s = arena.Data(%s)\n", s.fn2.Buffers[v.buf], v.expr)
		}
	}
	for _, buf := range s.fwd.Params {
		f := s.fn2.Buffers[buf]
		switch {
		case buf.Role == plan.Read && buf.Position:
			fmt.Fprintf(b, "\tk.%s = m.Pos\n", f)
		case buf.Role == plan.Read && s.constant(buf.Of):
			s.fillConst(b, buf, f)
		case buf.Role == plan.Read && buf.Elem == ir.Int:
			fmt.Fprintf(b, "\tk.%s = %s\n", f, argName(buf.Of))
		case buf.Role == plan.Read && s.from(buf) != "":
			fmt.Fprintf(b, "\tn.%s = %s\n\tk.%s = arena.Data(n.%s)\n", s.from(buf), s.before(buf), f, s.from(buf))
		case buf.Role == plan.Read && s.state(buf.Of) >= 0:
			fmt.Fprintf(b, "\tk.%s = arena.Data(%s)\n", f, s.before(buf))
		case buf.Role == plan.Read:
		case buf.Optional:
			fmt.Fprintf(b, "\tif %s.Tape != nil {\n\t\tk.%s = %s\n\t}\n", s.runExpr(), f, s.room(buf))
		default:
			fmt.Fprintf(b, "\tk.%s = %s\n", f, s.room(buf))
		}
	}
}

// room is memory for what the forward writes: results and states of the memory
// stay, what is saved for the backward stays if there will be one.
func (s *stageEmitter) room(buf *plan.Buffer) string {
	from := s.runExpr() + ".Saved"
	switch {
	case buf.Elem == ir.Bool:
		from = "arena.Bools"
	case buf.Elem == ir.Int:
		from = "arena.Ints"
	case s.state(buf.Of) >= 0 && buf.Role == plan.Write, slices.Contains(s.outputs(), buf):
		from = "arena.Alloc"
	}
	return fmt.Sprintf("%s(%s)", from, gotext.SizeText(buf.Len(), func(size string) string { return s.kernelSize(s.fwd, s.fn2, size, "k.") }))
}

// kernelSize is a size of a kernel's call as an expression over its fields.
func (s *stageEmitter) kernelSize(k *plan.Kernel, n *gokernel.Names, size, recv string) string {
	for _, q := range k.Ceils {
		if q.Name == size {
			name := func(x string) string { return s.kernelSize(k, n, x, recv) }
			den := gotext.SizeText(q.Den, name)
			return fmt.Sprintf("((%s+%s-1)/%s)", gotext.SizeText(q.Num, name), den, den)
		}
	}
	return recv + n.Sizes[size]
}

func (s *stageEmitter) fillConst(b *strings.Builder, buf *plan.Buffer, f string) {
	arg := argName(buf.Of)
	switch {
	case len(buf.Dims) > 0:
		fmt.Fprintf(b, "\tk.%s = %s\n", f, arg)
	case buf.Elem == ir.Int:
		fmt.Fprintf(b, "\tk.%s = arena.Ints(1)\n\tk.%s[0] = int32(%s)\n", f, f, arg)
	case buf.Elem == ir.Bool:
		fmt.Fprintf(b, "\tk.%s = arena.Bools(1)\n\tk.%s[0] = %s\n", f, f, arg)
	default:
		fmt.Fprintf(b, "\tk.%s = arena.Alloc(1)\n\tk.%s[0] = %s\n", f, f, arg)
	}
}

// run runs the kernel and hands out what it gave.
func (s *stageEmitter) run(b *strings.Builder) {
	workspace(b, s.fn2, "k", "arena")
	b.WriteString("\tk.Run()\n\tarena.Release(mark)\n")
	for _, w := range s.fn2.Work {
		fmt.Fprintf(b, "\tk.%s = nil\n", w)
	}
	s.noRoot(b)
	moved := false
	for _, buf := range s.fwd.Params {
		if buf.Role == plan.Write && s.state(buf.Of) >= 0 {
			set := fmt.Sprintf("m.SetNext(c, %s, k.%s)", s.slot(s.state(buf.Of)), s.fn2.Buffers[buf])
			if next := s.next(buf); next != "" {
				set = fmt.Sprintf("n.%s = %s", next, set)
			}
			fmt.Fprintf(b, "\t%s\n", set)
			moved = true
		}
	}
	if s.frozen {
		s.keepStarts(b)
	}
	if moved || s.frozen || s.fwd.Param(ir.Position) != nil {
		b.WriteString("\tm.Advance(c.Tokens)\n")
	}
	for _, o := range s.outputs() {
		r := resultName(o.Of)
		fmt.Fprintf(b, "\t%s = %s.Output(k.%s)\n", r, s.runExpr(), s.fn2.Buffers[o])
		if s.bwd != nil {
			fmt.Fprintf(b, "\tn.out%s = %s\n", gotext.Identifier(o.Of, true), r)
		}
	}
	b.WriteString("\treturn\n")
}

// before is a state's value before the call.
func (s *stageEmitter) before(buf *plan.Buffer) string {
	i := s.state(buf.Of)
	if s.recv != "" && s.u.States[i].Starts {
		return startOf(s.u.States[i])
	}
	return fmt.Sprintf("m.State(c, %s)", s.slot(i))
}

// startOf is the local of a learned first state.
func startOf(st abi.State) string { return "start" + gotext.Identifier(st.Name, true) }

// learnedStart computes the learned first states and puts them, in sequences whose context
// starts here, in the place of the memory's states. Their nodes must come before the
// stage's own, so that their backward runs after it.
func (s *stageEmitter) learnedStart(b *strings.Builder) {
	if !s.starts() {
		return
	}
	var names, used []string
	for _, st := range s.u.States {
		switch {
		case !st.Starts:
		case s.frozen || s.fwd.Param(st.Name) != nil:
			names, used = append(names, startOf(st)), append(used, startOf(st))
		default:
			names = append(names, "_")
		}
	}
	fmt.Fprintf(b, "\tvar %s tape.Value[F]\n\tif %s, err = b.start(c, w, m); err != nil {\n\t\treturn\n\t}\n", strings.Join(used, ", "), strings.Join(names, ", "))
	for i, st := range s.u.States {
		if !slices.Contains(used, startOf(st)) {
			continue
		}
		if st.Rows != abi.AnyRows {
			fmt.Fprintf(b, "\tif err = block.CheckStart(%q, m, %d, %s.Data); err != nil {\n\t\treturn\n\t}\n", s.u.Name, i, startOf(st))
		}
		fmt.Fprintf(b, "\t%s = block.InitialState(c, m, %d, %[1]s)\n", startOf(st), i)
	}
}

// keepStarts lets a context that begins with a frozen read begin with its learned
// first values: the next call finds it begun.
func (s *stageEmitter) keepStarts(b *strings.Builder) {
	for i, st := range s.u.States {
		if st.Starts {
			fmt.Fprintf(b, "\tblock.KeepStart(c, m, %d, %s)\n", i, startOf(st))
		}
	}
}

// workspace gives a call its workspace, from an arena or a tape.
func workspace(b *strings.Builder, n *gokernel.Names, recv, from string) {
	for _, w := range n.Work {
		length := fmt.Sprintf("%s.%sLen()", recv, w)
		value := map[string]string{
			"Operands": fmt.Sprintf("%s.Operands(%s)", from, length),
			"Work":     fmt.Sprintf("%s.Scratch(%s)", from, length),
			"Rows":     fmt.Sprintf("block.Blocks[[%d]F](%s.Scratch(%d * %s))", gokernel.RowBlock, from, gokernel.RowBlock, length),
			"Flags":    fmt.Sprintf("%s.Flags(%s)", from, length),
			"Counts":   fmt.Sprintf("%s.Ints(%s)", from, length),
			"RowFlags": fmt.Sprintf("block.Blocks[[%d]bool](%s.Flags(%d * %s))", gokernel.RowBlock, from, gokernel.RowBlock, length),
		}[w]
		if value == "" {
			panic("emitgo: BUG: no memory for the workspace " + w)
		}
		fmt.Fprintf(b, "\t%s.%s = %s\n", recv, w, value)
	}
}

// noRoot prints how a stage reports a search that failed.
func (s *stageEmitter) noRoot(b *strings.Builder) {
	roots := s.fwd.Roots()
	if len(roots) == 0 {
		return
	}
	names := make([]string, len(roots))
	for i, r := range roots {
		names[i] = fmt.Sprintf("%q", r.Eq)
	}
	fmt.Fprintf(b, "\tif k.NoRoot > 0 {\n\t\terr = &block.NoRootError{Equation: [...]string{%s}[k.NoRoot-1]}\n\t\treturn\n\t}\n", strings.Join(names, ", "))
}
