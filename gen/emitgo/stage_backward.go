package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/plan"
)

// backward prints the node's method.
func (s *stageEmitter) backward() {
	var b strings.Builder
	fmt.Fprintf(&b, "// Backward adds the adjoints of what %s read.\nfunc (n *%s[F]) Backward(t *tape.Tape[F]) {\n", s.fn, s.node)
	s.unused(&b)
	b.WriteString("\tk, g := &n.call, &n.back\n")
	var fields, vals []string
	for _, size := range s.bwd.Sizes {
		fields = append(fields, "g."+s.bn.Sizes[size])
		vals = append(vals, s.fromForward(size))
	}
	if len(fields) > 0 {
		fmt.Fprintf(&b, "\t%s = %s\n", strings.Join(fields, ", "), strings.Join(vals, ", "))
	}
	for _, buf := range s.bwd.Params {
		s.backBuffer(&b, buf)
	}
	workspace(&b, s.bn, "g", "t")
	b.WriteString("\tg.Run()\n")
	s.give(&b)
	b.WriteString("}\n")
	s.file.Add(gotext.Code(b.String()))
}

// unused returns at once when nothing that the stage gave has an adjoint.
func (s *stageEmitter) unused(b *strings.Builder) {
	var conds []string
	for _, o := range s.outputs() {
		conds = append(conds, fmt.Sprintf("t.Adjoint(n.out%s) == nil", gotext.Identifier(o.Of, true)))
	}
	for _, buf := range s.fwd.Params {
		if next := s.next(buf); next != "" {
			conds = append(conds, fmt.Sprintf("t.Adjoint(n.%s) == nil", next))
		}
	}
	if len(conds) > 0 {
		fmt.Fprintf(b, "\tif %s {\n\t\treturn\n\t}\n", strings.Join(conds, " && "))
	}
}

// fromForward is a size of the backward, which the forward's call has unless
// its kernel did not need it.
func (s *stageEmitter) fromForward(size string) string {
	if f, ok := s.fn2.Sizes[size]; ok {
		return "k." + f
	}
	return s.sizeOfNode(size)
}

// segment is the number of tokens between two checkpoints.
func (s *stageEmitter) segment() string {
	if (abi.Pair{Fwd: s.fwd, Bwd: s.bwd}).RowsApart() {
		return "block.Segment"
	}
	return "block.SegmentWhole"
}

func (s *stageEmitter) sizeOfNode(size string) string {
	if size == s.bwd.Segment {
		return s.segment()
	}
	panic("emitgo: BUG: the backward of " + s.u.Name + " needs a size that its forward lacks: " + size)
}

// backBuffer sets one buffer of the backward's call.
func (s *stageEmitter) backBuffer(b *strings.Builder, buf *plan.Buffer) {
	f := s.bn.Buffers[buf]
	n := gotext.SizeText(buf.Len(), func(size string) string { return s.kernelSize(s.bwd, s.bn, size, "g.") })
	if buf.Role == plan.Write {
		if v := s.adjointOf(buf); v != "" {
			fmt.Fprintf(b, "\tg.%s = t.Part(n.%s, %s)\n", f, v, n)
		} else {
			fmt.Fprintf(b, "\tg.%s = t.Scratch(%s)\n", f, n)
		}
		return
	}
	if result := buf.Primal; result != "" && buf.Role == plan.Read {
		switch {
		case s.state(result) >= 0:
			fmt.Fprintf(b, "\tg.%s = block.Adjoint(t, n.%s, %s)\n", f, s.next(s.fwd.Result(result)), n)
		case slices.ContainsFunc(s.outputs(), func(o *plan.Buffer) bool { return o.Of == result }):
			fmt.Fprintf(b, "\tg.%s = block.Adjoint(t, n.out%s, %s)\n", f, gotext.Identifier(result, true), n)
		default: // a result of a function that its caller does not read
			fmt.Fprintf(b, "\tg.%s = block.Zeros(t, %s)\n", f, n)
		}
		return
	}
	fmt.Fprintf(b, "\tg.%s = k.%s\n", f, s.forwardField(buf))
}

// adjointOf is the node's field of the value whose adjoint a buffer is, "" if it is of none.
func (s *stageEmitter) adjointOf(buf *plan.Buffer) string {
	for _, v := range s.values() {
		if s.bwd.AdjointResult(v.buf.Of) == buf {
			return v.field
		}
	}
	for _, p := range s.fwd.Params {
		if from := s.from(p); from != "" && s.bwd.AdjointResult(p.Of) == buf {
			return from
		}
	}
	return ""
}

// forwardField is the forward's field that a buffer of the backward reads.
func (s *stageEmitter) forwardField(buf *plan.Buffer) string {
	for _, role := range []plan.Role{plan.Read, plan.Write, plan.Checkpoint} {
		for _, x := range s.fwd.Params {
			if x.Of == buf.Of && x.Role == role && (role != plan.Write || s.state(x.Of) < 0) {
				if role == plan.Checkpoint != (buf.Role == plan.Checkpoint) {
					continue
				}
				return s.fn2.Buffers[x]
			}
		}
	}
	panic(fmt.Sprintf("emitgo: BUG: the backward of %s reads %s, which its forward does not have", s.u.Name, buf.Of))
}

// give adds the adjoints that the kernel computed to those of what was read.
func (s *stageEmitter) give(b *strings.Builder) {
	for _, v := range s.values() {
		if r := s.bwd.AdjointResult(v.buf.Of); r != nil {
			s.contribute(b, v.buf.Of, v.field, s.bn.Buffers[r])
		}
	}
	for _, buf := range s.fwd.Params {
		if from := s.from(buf); from != "" {
			s.contribute(b, buf.Of, from, s.bn.Buffers[s.bwd.AdjointResult(buf.Of)])
		}
	}
}

// contribute adds one of them. What only the states that a call leaves depend on has no
// gradient where none of those has an adjoint: a zero would count as one.
func (s *stageEmitter) contribute(b *strings.Builder, of, field, part string) {
	var conds []string
	for _, result := range s.needs[of] {
		buf := s.fwd.Result(result)
		next := ""
		if buf != nil {
			next = s.next(buf)
		}
		if next == "" {
			conds = nil
			break
		}
		conds = append(conds, fmt.Sprintf("t.Adjoint(n.%s) != nil", next))
	}
	line := fmt.Sprintf("t.Contribute(n.%s, g.%s)\n", field, part)
	if len(conds) > 0 && len(s.outputs()) > 0 {
		line = fmt.Sprintf("if %s {\n\t\t%s\t}\n", strings.Join(conds, " || "), line)
	}
	b.WriteString("\t" + line)
}
