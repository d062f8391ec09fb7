package plan

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A RowCopy is a loop that copies a row between a private buffer and another:
// contiguous entries of Private, and of Other.
type RowCopy struct {
	In      bool // into the row's own
	Private Access
	Other   Access
	Count   Index
}

// RowCopyOf returns the copy that a loop is, or nil.
func RowCopyOf(loop *Loop, private []*Buffer) *RowCopy {
	if len(loop.Body) != 1 || len(loop.Lo) != 1 || len(loop.Hi) != 1 || !loop.Lo[0].Equal(Index{}) {
		return nil
	}
	s, ok := loop.Body[0].(*Store)
	if !ok || s.Add || len(s.Vals) != 1 {
		return nil
	}
	l, ok := s.Vals[0].(Load)
	if !ok || l.Buf.Elem != ir.Real || s.To.Buf.Elem != ir.Real || !l.EndsIn(loop.Var) || !s.To.EndsIn(loop.Var) {
		return nil
	}
	in := slices.Contains(private, s.To.Buf)
	if in == slices.Contains(private, l.Buf) {
		return nil
	}
	m := &RowCopy{In: in, Private: s.To, Other: l.Access, Count: loop.Hi[0]}
	if !in {
		m.Private, m.Other = m.Other, m.Private
	}
	m.Private, m.Other = m.Private.Start(loop.Var), m.Other.Start(loop.Var)
	return m
}

// EndsIn reports whether the last index is v itself and no other mentions it.
func (a Access) EndsIn(v *Var) bool {
	n := len(a.Index) - 1
	return n >= 0 && a.Index[n].Var() == v && !Access{Buf: a.Buf, Index: a.Index[:n]}.Mentions(v) && len(a.Gathered()) == 0
}

// Start is the access where a variable is zero.
func (a Access) Start(v *Var) Access {
	out := Access{Buf: a.Buf}
	for _, x := range a.Index {
		out.Index = append(out.Index, x.Subst(v, Index{}))
	}
	return out
}

// Mentions reports whether an index of an access depends on v.
func (a Access) Mentions(v *Var) bool {
	return slices.ContainsFunc(a.Index, func(x Index) bool { return !x.Coef(v).IsZero() })
}

// AddsTo reports whether an expression is a fused sum that starts from an entry.
func AddsTo(e Expr, at Access) bool {
	switch e := e.(type) {
	case Load:
		return e.Access.String() == at.String()
	case Fma:
		return AddsTo(e.C, at)
	case Lin:
		return len(e.Args) == 2 && e.Const == 0 && e.Coef[0] == 1 && AddsTo(e.Args[0], at)
	}
	return false
}

// CopyStore returns the store of a loop that copies contiguous entries, or
// nil.
func CopyStore(loop *Loop) *Store {
	if len(loop.Body) != 1 || loop.Down {
		return nil
	}
	s, ok := loop.Body[0].(*Store)
	if !ok || s.Add || len(s.Vals) != 1 {
		return nil
	}
	l, ok := s.Vals[0].(Load)
	one := shape.Int(1)
	if !ok || l.Buf.Elem != s.To.Buf.Elem || l.Buf.Base() == s.To.Buf.Base() || len(s.To.Gathered())+len(l.Gathered()) > 0 ||
		!s.To.Flat().Coef(loop.Var).Equal(one) || !l.Flat().Coef(loop.Var).Equal(one) {
		return nil
	}
	return s
}

// A Transposition is two loops that copy the rows of a matrix to the columns of another:
//
//	To[j·Step + r] = From[r·Stride + j]    for r < Rows, j < N
//
// from the entries To and From on. Stride may be negative: then the rows are taken from the last
// to the first.
type Transposition struct {
	To, From     Access
	Step, Stride shape.Poly
	Rows, N      Index
}

// TransposeOf returns the transposition that a loop is, over the entries of rows around one over
// rows, or nil.
func TransposeOf(entries *Loop) *Transposition {
	if len(entries.Body) != 1 {
		return nil
	}
	rows, ok := entries.Body[0].(*Loop)
	if !ok || len(rows.Body) != 1 {
		return nil
	}
	for _, l := range []*Loop{entries, rows} {
		if l.Down || l.Kind != Plain || len(l.Lo) != 1 || !l.Lo[0].Equal(Index{}) || len(l.Hi) != 1 || len(l.Hi[0].Terms) > 0 {
			return nil
		}
	}
	s, ok := rows.Body[0].(*Store)
	if !ok || s.Add || len(s.Vals) != 1 {
		return nil
	}
	from, ok := s.Vals[0].(Load)
	one := shape.Int(1)
	if !ok || from.Buf.Elem != ir.Real || s.To.Buf.Elem != ir.Real || from.Buf.Base() == s.To.Buf.Base() || len(s.To.Gathered())+len(from.Gathered()) > 0 {
		return nil
	}
	to, at := s.To.Flat(), from.Flat()
	t := &Transposition{Step: to.Coef(entries.Var), Stride: at.Coef(rows.Var), Rows: rows.Hi[0], N: entries.Hi[0]}
	if !to.Coef(rows.Var).Equal(one) || !at.Coef(entries.Var).Equal(one) || t.Step.IsZero() || t.Stride.IsZero() {
		return nil
	}
	t.To, t.From = s.To.Start(entries.Var).Start(rows.Var), from.Start(entries.Var).Start(rows.Var)
	return t
}
