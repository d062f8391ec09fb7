package lower

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// materialise makes every state and output an instruction of its own that can
// store to its place: a copy where it is a parameter, equals another state, or
// is accumulated in memory.
func (l *lowerer) materialise(rec *recurrence) {
	for _, s := range rec.scans() {
		taken := map[*ir.Value]bool{}
		b := &ir.Builder{F: s.Body, Eq: rec.in.Eq, Span: rec.in.Span}
		for i := range s.Carry {
			c := &s.Carry[i]
			if taken[c.Next] || !rec.direct(c.Next) {
				c.Next = b.Lin(c.Next.Axes, 0, []float64{1}, ir.All(c.Next))
			}
			taken[c.Next] = true
		}
		for i := range s.Outs {
			o := &s.Outs[i]
			if !rec.direct(o.Val) || o.Sum && writesWhole(o.Val.Def) {
				o.Val = b.Lin(o.Val.Axes, 0, []float64{1}, ir.All(o.Val))
			}
		}
		for _, in := range slices.Clone(s.Body.Body) {
			if in.Op == ir.Reshape && in.Args[0].Val.Def == nil {
				v := in.Args[0].Val
				c := b.Lin(v.Axes, 0, []float64{1}, ir.All(v))
				s.Body.Body = s.Body.Body[:len(s.Body.Body)-1]
				s.Body.Body = slices.Insert(s.Body.Body, slices.Index(s.Body.Body, in), c.Def)
				in.Args[0].Val = c
			}
		}
	}
}

// direct reports whether the instruction of a value stores single entries.
func (rec *recurrence) direct(v *ir.Value) bool {
	in := v.Def
	if in == nil || rec.inline[v] {
		return false
	}
	if pointwise(in) || rec.chunks && writesWhole(in) {
		return true
	}
	if rec.rows == nil || in.Op != ir.Prod {
		return false
	}
	return rec.rows.sums[in] || len(in.Guard) == 0 && len(in.Out.Axes) == 1
}
