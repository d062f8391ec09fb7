package ir

import (
	"fmt"
	"slices"

	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/source"
)

// A Builder appends instructions to a program. Eq and Span mark what it appends.
type Builder struct {
	F    *Func
	Eq   string
	Span source.Span
}

// NewAxis adds a free axis, whose size is its own name.
func (f *Func) NewAxis(name string) *Axis { return f.NewSizedAxis(name, shape.Sym(name)) }

// NewSizedAxis adds an axis with a given size.
func (f *Func) NewSizedAxis(name string, size shape.Poly) *Axis {
	a := &Axis{Name: name, Size: size}
	f.Axes = append(f.Axes, a)
	return a
}

// AddParam adds a parameter.
func (f *Func) AddParam(name string, role Role, elem Elem, axes ...*Axis) *Value {
	v := &Value{Name: f.Fresh(name), Elem: elem, Axes: axes, Role: role, NoGrad: elem != Real}
	f.Params = append(f.Params, v)
	return v
}

// Param returns the parameter of a name, or nil.
func (f *Func) Param(name string) *Value {
	for _, p := range f.Params {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// Result returns the value of the result of a name, or nil.
func (f *Func) Result(name string) *Value {
	for _, r := range f.Results {
		if r.Name == name {
			return r.Val
		}
	}
	return nil
}

// Fresh returns name, or name.2, name.3, … when it is taken.
func (f *Func) Fresh(name string) string {
	if f.names == nil {
		f.names = map[string]int{}
	}
	f.names[name]++
	if n := f.names[name]; n > 1 {
		return f.Fresh(fmt.Sprintf("%s.%d", name, n))
	}
	return name
}

// L is the subscript that is loop i itself.
func L(i int) Sub { return Sub{Terms: []Term{{i, 1}}} }

// Ls are the subscripts of the first n loops in order.
func Ls(n int) []Sub {
	out := make([]Sub, n)
	for i := range out {
		out[i] = L(i)
	}
	return out
}

// At is v read at the given subscripts.
func At(v *Value, sub ...Sub) Arg { return Arg{v, sub} }

// All is v read at the loops 0, 1, 2, … in order.
func All(v *Value) Arg { return Arg{v, Ls(len(v.Axes))} }

// Loop returns the loop number when s is one loop and nothing else.
func (s Sub) Loop() (int, bool) {
	if s.Indirect == nil && s.Const.IsZero() && len(s.Terms) == 1 && s.Terms[0].Coef == 1 {
		return s.Terms[0].Loop, true
	}
	return 0, false
}

// Identity reports whether the subscripts are the loops 0…n−1 in order.
func Identity(subs []Sub, n int) bool {
	if len(subs) != n {
		return false
	}
	for i, s := range subs {
		if l, ok := s.Loop(); !ok || l != i {
			return false
		}
	}
	return true
}

// Add appends an instruction and returns its output.
func (b *Builder) Add(in *Instr) *Value {
	if in.Eq == "" {
		in.Eq, in.Span = b.Eq, b.Span
	}
	if in.Out != nil {
		in.Out.Def = in
	}
	b.F.Body = append(b.F.Body, in)
	return in.Out
}

// value makes an unnamed output.
func (b *Builder) value(elem Elem, axes []*Axis) *Value {
	return &Value{Name: b.F.Fresh("%"), Elem: elem, Axes: axes}
}

// Prod appends out[to] += coef · Π args over the loops.
func (b *Builder) Prod(loops, axes []*Axis, to []Sub, coef float64, args ...Arg) *Value {
	return b.Add(&Instr{Op: Prod, Loops: loops, Out: b.value(Real, axes), To: to, Args: args, Coef: []float64{coef}})
}

// Elementwise appends an entry-by-entry instruction over axes; args are read at
// the subscripts they carry.
func (b *Builder) Elementwise(op Op, axes []*Axis, args ...Arg) *Value {
	elem := op.Info().Out
	return b.Add(&Instr{Op: op, Loops: axes, Out: b.value(elem, axes), To: Ls(len(axes)), Args: args})
}

// Map is Elementwise over the axes of the first argument that has axes;
// scalars are broadcast.
func (b *Builder) Map(op Op, vals ...*Value) *Value {
	var axes []*Axis
	for _, v := range vals {
		if len(v.Axes) > len(axes) {
			axes = v.Axes
		}
	}
	args := make([]Arg, len(vals))
	for i, v := range vals {
		args[i] = All(v)
	}
	return b.Elementwise(op, axes, args...)
}

// Lin appends Σ coefs[i]·args[i] + constant over axes.
func (b *Builder) Lin(axes []*Axis, constant float64, coefs []float64, args ...Arg) *Value {
	return b.Add(&Instr{Op: Lin, Loops: axes, Out: b.value(Real, axes), To: Ls(len(axes)),
		Args: args, Coef: append(slices.Clone(coefs), constant)})
}

// Const appends a tensor of one value.
func (b *Builder) Const(c float64, axes ...*Axis) *Value {
	return b.Add(&Instr{Op: Const, Loops: axes, Out: b.value(Real, axes), To: Ls(len(axes)), Coef: []float64{c}})
}

// Norm appends softmax, logsumexp or max over the loops in over; for softmax
// the output has all loops, else those that are not in over.
func (b *Builder) Norm(op Op, loops []*Axis, over []int, guard []Sub, arg Arg) *Value {
	var axes []*Axis
	var to []Sub
	for i, a := range loops {
		if op == Softmax || !slices.Contains(over, i) {
			axes, to = append(axes, a), append(to, L(i))
		}
	}
	return b.Add(&Instr{Op: op, Loops: loops, Over: over, Guard: guard, Out: b.value(Real, axes), To: to, Args: []Arg{arg}})
}

// Reshape appends v in the same row-major order under other axes; Args carries
// no subscripts and the box is empty.
func (b *Builder) Reshape(v *Value, axes ...*Axis) *Value {
	return b.Add(&Instr{Op: Reshape, Out: b.value(v.Elem, axes), Args: []Arg{{Val: v}}})
}

// Narrow appends v as an operand of products.
func (b *Builder) Narrow(v *Value) *Value {
	return b.Add(&Instr{Op: Narrow, Out: b.value(Real, v.Axes), Args: []Arg{{Val: v}}})
}

// Stack appends the arguments one after another along axis number at of axes.
// Each argument has all of axes but its own size along that one.
func (b *Builder) Stack(axes []*Axis, at int, vals ...*Value) *Value {
	in := &Instr{Op: Stack, Loops: axes, Out: b.value(Real, axes), To: Ls(len(axes)), Over: []int{at}}
	offset := shape.Int(0)
	for _, v := range vals {
		sub := Ls(len(axes))
		sub[at].Const = offset.Mul(shape.Int(-1))
		in.Args = append(in.Args, Arg{v, sub})
		offset = offset.Add(v.Axes[at].Size)
	}
	return b.Add(in)
}
