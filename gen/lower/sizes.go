package lower

import (
	"fmt"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// collectSizes notes the free sizes of the program.
func (l *lowerer) collectSizes() {
	l.f.EachSize(func(size shape.Poly) {
		for _, s := range size.Symbols() {
			l.sizes[s], l.names[s] = true, true
		}
	})
}

// segmentSize is the size that counts tokens between checkpoints.
func (l *lowerer) segmentSize() string {
	if l.k.Segment == "" {
		l.k.Segment = l.fresh("C")
		l.sizes[l.k.Segment] = true
	}
	return l.k.Segment
}

// segments is the number of segments of a span of time.
func (l *lowerer) segments(time shape.Poly) string {
	c := shape.Sym(l.segmentSize())
	for _, q := range l.k.Ceils {
		if q.Num.Equal(time) && q.Den.Equal(c) {
			return q.Name
		}
	}
	name := l.fresh("segments")
	l.k.Ceils = append(l.k.Ceils, plan.Ceil{Name: name, Num: time, Den: c})
	return name
}

// chunks names the quotients of sizes, which a kernel computes at its start.
func (l *lowerer) chunks() {
	names := map[shape.Quotient]string{}
	l.f.NameQuotients(func(q shape.Quotient) string {
		if names[q] == "" {
			names[q] = l.fresh("chunks")
			by := shape.Int(q.By)
			l.k.Ceils = append(l.k.Ceils, plan.Ceil{Name: names[q], Num: shape.Sym(q.Of).Add(shape.Int(1)).Sub(by), Den: by})
		}
		return names[q]
	})
	for _, q := range l.k.Ceils {
		delete(l.sizes, q.Name)
	}
}

// finish optimises the body and sums up sizes and memory.
func (l *lowerer) finish() {
	l.k.Body = loopopt.Optimize(l.k.Body, l.fresh)
	l.dropUnread()
	for i, r := range l.k.Roots() {
		r.Number = i + 1
	}
	l.k.Sizes = slices.Sorted(maps.Keys(l.sizes))
	for _, in := range l.f.Body {
		l.k.Doc = append(l.k.Doc, describe(in))
	}
	l.memory()
}

// dropUnread removes the parameters that the body does not read.
func (l *lowerer) dropUnread() {
	used := map[*plan.Buffer]bool{}
	for a := range plan.Accesses(l.k.Body) {
		used[a.Buf.Base()] = true
	}
	for _, b := range l.k.Work {
		if b.NarrowOf != nil {
			used[b.NarrowOf.Base()] = true
		}
	}
	l.k.Params = slices.DeleteFunc(l.k.Params, func(b *plan.Buffer) bool { return b.Role == plan.Read && !used[b] })
}

func describe(in *ir.Instr) string {
	s := in.Op.String()
	if in.Out != nil {
		s = fmt.Sprintf("%s = %s", in.Out.Name, s)
	}
	if in.Eq != "" {
		s += "  ; " + in.Eq
	}
	return s
}

// rowsInFlight is the number of rows that the memory formula counts.
const rowsInFlight = 4

func (l *lowerer) memory() {
	m := &l.k.Memory
	for _, b := range l.k.Params {
		switch {
		case b.Role == plan.Checkpoint:
			m.Checkpoints = m.Checkpoints.Add(b.Len())
		case b.Role == plan.Write && l.links != nil && slices.Contains(l.links.saved, b.Of):
			m.Saved = m.Saved.Add(b.Len())
		}
	}
	for _, b := range l.k.Work {
		if b.Role == plan.Work {
			m.Workspace = m.Workspace.Add(b.Len())
		}
	}
	plan.Walk(l.k.Body, func(n plan.Node) {
		if loop, ok := n.(*plan.Loop); ok {
			times := int64(1)
			if loop.Kind == plan.Row {
				times = rowsInFlight
			}
			for _, b := range loop.Private {
				m.Workspace = m.Workspace.Add(b.Len().Mul(shape.Int(times)))
			}
		}
	})
}
