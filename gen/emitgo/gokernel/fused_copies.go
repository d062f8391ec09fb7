package gokernel

import (
	"maps"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A start is what rows' own buffers were copied from and still hold, in the
// first segment.
type start struct {
	segment string // its variable, "" in front of the segments
	copied  map[*plan.Buffer]*plan.RowCopy
}

// at is a start as statements begin inside of a segment.
func (s *start) at(segment string) *start { return &start{segment, maps.Clone(s.copied)} }

// meet forgets what statements that may be left out have changed.
func (s *start) meet(inside *start) {
	maps.DeleteFunc(s.copied, func(b *plan.Buffer, m *plan.RowCopy) bool { return inside.copied[b] != m })
}

func (s *start) moved(m *plan.RowCopy) {
	if s.copied == nil {
		s.copied = map[*plan.Buffer]*plan.RowCopy{}
	}
	delete(s.copied, m.Private.Buf.Base())
	if m.In && len(m.Private.Index) == 1 {
		s.copied[m.Private.Buf.Base()] = m
	}
}

// copyRows prints a copy of rows into or out of their own buffers. What they
// hold since they were copied in is copied from there in the first segment,
// which turns nothing.
func (e *kernelEmitter) copyRows(g *jen.Group, j *job, m *plan.RowCopy, from *start) {
	in := from.copied[m.Private.Buf.Base()]
	if m.In || in == nil || from.segment == "" || len(m.Private.Index) > 1 {
		e.moveRows(g, j, m)
		from.moved(m)
		return
	}
	there := jen.Id("rows")
	if j.row.Across == plan.Rows {
		there = jen.Id("there")
	}
	g.If(jen.Id(from.segment).Op("==").Lit(0)).Block(e.sameRows(j, m, in, there)).Else().BlockFunc(func(g *jen.Group) { e.moveRows(g, j, m) })
}

// sameRows is a copy of rows from where one move has them to where another does.
func (e *kernelEmitter) sameRows(j *job, to, from *plan.RowCopy, rows *jen.Statement) *jen.Statement {
	var args []jen.Code
	for _, a := range []plan.Access{to.Other, from.Other} {
		args = append(args, e.slice(a.Buf).Index(jen.Id(e.text.Address(a)).Op(":")), e.poly(a.Flat().Coef(j.row.Var)))
	}
	count := e.index(to.Count)
	return jen.Qual(kernPath, "CopyRows").Call(append(args, rows, count)...)
}

// moveRows prints a copy of rows into or out of their own buffers.
func (e *kernelEmitter) moveRows(g *jen.Group, j *job, m *plan.RowCopy) {
	fn := map[bool]map[plan.Across]string{
		true:  {plan.Columns: "Interleave", plan.Rows: "Transpose"},
		false: {plan.Columns: "Separate", plan.Rows: "TransposeBack"},
	}[m.In][j.row.Across]
	_, lastDim := split(m.Private.Buf)
	row := plan.Access{Buf: m.Private.Buf, Index: m.Private.Index[:len(m.Private.Index)-1]}
	at := plan.Index{}
	mul := shape.Int(1)
	for i := len(row.Index) - 1; i >= 0; i-- {
		at = at.Add(row.Index[i], mul)
		mul = mul.Mul(row.Buf.Dims[i])
	}
	own := e.slice(m.Private.Buf)
	if len(at.Terms) > 0 || !at.Const.IsZero() {
		s := e.index(at)
		step := jen.Id("rows").Op("*").Add(e.operand(lastDim))
		if j.row.Across == plan.Columns {
			step = jen.Qual(kernPath, "RowLen").Call(e.poly(lastDim), jen.Id("rows"))
		}
		own = own.Index(jen.Parens(s).Op("*").Add(step).Op(":"))
	}
	flat := m.Other.Flat()
	stride := flat.Coef(j.row.Var)
	count := e.index(m.Count)
	args := []jen.Code{own, jen.Id("rows"), e.slice(m.Other.Buf).Index(jen.Id(e.text.Address(m.Other)).Op(":")), e.poly(stride)}
	if j.row.Across == plan.Rows {
		args = append(args, jen.Id("there"))
	}
	g.Qual(kernPath, fn).Call(append(args, count)...)
}
