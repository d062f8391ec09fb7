package gokernel

import (
	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
)

// A relay is a recurrence backward whose rows hand on, from segment to segment,
// nothing but what they begin with and end as. Its segments can be the outer
// loop: all rows pass through the tokens of one segment, which stay in a cache,
// before any goes on to the next. Between segments a row is where it ends up.
//
//	for s down { for rows { in from the start, or from the end; segment; out to the end } }
type relay struct {
	in, out []*plan.RowCopy // by buffer of a row's own
	segment *plan.Loop
}

// relay finds the parts of a job, or returns nil where it is no relay.
func (e *kernelEmitter) relay(j *job) *relay {
	r := &relay{}
	for _, n := range j.row.Body {
		loop, ok := n.(*plan.Loop)
		if _, note := n.(*plan.Note); note {
			continue
		}
		if !ok {
			return nil
		}
		m := plan.RowCopyOf(loop, j.row.Private)
		switch {
		case m == nil && r.segment == nil && loop.Kind == plan.Segment && loop.Down:
			r.segment = loop
		case m != nil && m.In && r.segment == nil:
			r.in = append(r.in, m)
		case m != nil && !m.In && r.segment != nil:
			r.out = append(r.out, m)
		default:
			return nil
		}
	}
	if r.segment == nil || len(r.in) != len(r.out) {
		return nil
	}
	for i, m := range r.in {
		if o := r.out[i]; m.Private.String() != o.Private.String() || !m.Count.Equal(o.Count) {
			return nil
		}
	}
	return r
}

// relayed prints a relay.
func (e *kernelEmitter) relayed(g *jen.Group, j *job, r *relay, length func(*plan.Buffer) *jen.Statement) {
	mark := e.scope.Mark()
	_, hi := e.bounds(r.segment)
	e.handOver(g, j, r, hi)
	s := e.scope.Name(r.segment.Var.Name, false)
	e.vars[r.segment.Var] = s
	g.Id("most").Op(":=").Id("rows")
	g.For(jen.Id(s).Op(":=").Add(hi.Clone()).Op("-").Lit(1), jen.Id(s).Op(">=").Lit(0), jen.Id(s).Op("--")).BlockFunc(func(g *jen.Group) {
		g.Id("rows").Op("=").Id("most")
		e.eachRows(g, j, length, func(g *jen.Group) {
			for i, m := range r.in {
				again := *r.out[i]
				again.In = true
				g.If(jen.Id(s).Op("==").Add(hi.Clone()).Op("-").Lit(1)).BlockFunc(func(g *jen.Group) {
					e.moveRows(g, j, m)
				}).Else().BlockFunc(func(g *jen.Group) {
					e.moveRows(g, j, &again)
				})
			}
			e.wideBody(g, j, r.segment.Body, &start{})
			for _, m := range r.out {
				e.moveRows(g, j, m)
			}
		})
	})
	e.scope.Release(mark)
}

// handOver prints what rows do when there are no tokens.
func (e *kernelEmitter) handOver(g *jen.Group, j *job, r *relay, segments *jen.Statement) {
	e.vars[j.row.Var] = "first"
	g.If(segments.Clone().Op("==").Lit(0)).BlockFunc(func(g *jen.Group) {
		for i, m := range r.in {
			g.Add(e.sameRows(j, r.out[i], m, jen.Id("last").Op("-").Id("first")))
		}
	})
}
