package ir

import (
	"errors"
	"fmt"
	"slices"
)

// Verify reports everything about f that no program may be: values used before
// their definition or defined twice, axes of another program, the wrong number
// of arguments or subscripts, the wrong kind of entries, subscripts out of
// range, an entry-by-entry instruction that sums, and scans whose ends do not
// meet. It runs after every stage.
func Verify(f *Func) error {
	v := &verifier{f: f, axes: map[*Axis]bool{}}
	v.program(f, f.Name)
	return errors.Join(v.errs...)
}

type verifier struct {
	f       *Func
	axes    map[*Axis]bool
	defined map[*Value]bool
	where   string
	errs    []error
}

func (v *verifier) bad(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("%s: %s", v.where, fmt.Sprintf(format, args...)))
}

func (v *verifier) program(f *Func, where string) {
	outer, names, at := v.defined, map[string]bool{}, v.where
	v.defined, v.where = map[*Value]bool{}, where
	for _, a := range f.Axes {
		v.axes[a] = true
	}
	for _, p := range f.Params {
		if p.Def != nil || p.Role == 0 {
			v.bad("parameter %s has a definition or no role", p.Name)
		}
		if p.IsWindow() && p.Elem != Real || p.Role == State && p.Name == Position && p.Elem != Int {
			v.bad("state %s has %s entries", p.Name, p.Elem)
		}
		v.define(names, p)
	}
	for _, in := range f.Body {
		v.where = where
		if in.Out != nil {
			v.where += ": " + in.Out.Name
		}
		v.instr(in)
		for _, d := range in.Defines() {
			if d.Def != in {
				v.bad("%s does not point to its definition", d.Name)
			}
			v.define(names, d)
		}
	}
	v.where = where
	for _, r := range f.Results {
		v.read(r.Val, "result "+r.Name)
	}
	v.defined, v.where = outer, at
}

func (v *verifier) define(names map[string]bool, x *Value) {
	switch {
	case v.defined[x]:
		v.bad("%s is defined twice", x.Name)
	case names[x.Name]:
		v.bad("the name %s is used twice", x.Name)
	case x.Elem < Real || x.Elem > Bool:
		v.bad("%s has no kind of entries", x.Name)
	}
	v.defined[x], names[x.Name] = true, true
	v.known("the axes of "+x.Name, x.Axes)
}

func (v *verifier) known(what string, axes []*Axis) {
	for _, a := range axes {
		if !v.axes[a] {
			v.bad("%s: axis %s is not of this program", what, a.Name)
		}
	}
}

func (v *verifier) read(x *Value, what string) bool {
	if x == nil || !v.defined[x] {
		n := "nothing"
		if x != nil {
			n = x.Name
		}
		v.bad("%s reads %s, which is not defined before", what, n)
		return false
	}
	return true
}

func (v *verifier) instr(in *Instr) {
	info := in.Op.Info()
	switch {
	case info.Name == "invalid":
		v.bad("no such primitive")
		return
	case in.Op == ScanOp:
		v.scan(in)
		return
	case in.Out == nil:
		v.bad("%v has no output", in.Op)
		return
	case info.Args >= 0 && len(in.Args) != info.Args:
		v.bad("%v has %d arguments, not %d", in.Op, len(in.Args), info.Args)
		return
	}
	v.known("the loops", in.Loops)
	for i, a := range in.Args {
		v.read(a.Val, fmt.Sprintf("argument %d", i))
	}
	if info.View {
		v.reshape(in)
		return
	}
	for i, a := range in.Args {
		v.access(in, a, fmt.Sprintf("argument %d", i), in.Op == Stack)
	}
	v.access(in, Arg{in.Out, in.To}, "the output", false)
	for _, g := range in.Guard {
		v.sub(in, g, "a guard")
	}
	v.shape(in)
	if in.Op == SolveOp {
		v.solve(in)
		return
	}
	v.kinds(in)
}

// shape checks what depends on the primitive: numbers, loops that are reduced,
// and that entry-by-entry instructions write every entry of their box once.
func (v *verifier) shape(in *Instr) {
	coefs := map[Op]int{Prod: 1, Lin: len(in.Args) + 1, Const: 1}[in.Op]
	if len(in.Coef) != coefs {
		v.bad("%v has %d numbers, not %d", in.Op, len(in.Coef), coefs)
	}
	for _, l := range in.Over {
		if l < 0 || l >= len(in.Loops) {
			v.bad("loop %d does not exist", l)
			return
		}
	}
	if in.Op == TriSolve {
		v.triangle(in)
		return
	}
	seen := map[int]bool{}
	for _, s := range in.To {
		l, ok := s.Loop()
		if in.Op != Prod && (!ok || seen[l]) {
			v.bad("%v writes at something else than its loops", in.Op)
			return
		}
		seen[l] = true
	}
	reduced := in.Op == Max || in.Op == LogSumExp
	switch {
	case reduced && slices.ContainsFunc(in.Over, func(l int) bool { return seen[l] }):
		v.bad("%v keeps a loop that it reduces", in.Op)
	case reduced && len(seen)+len(in.Over) != len(in.Loops):
		v.bad("%v loses a loop", in.Op)
	case (in.Op.Info().Elementwise || in.Op == Softmax) && len(seen) != len(in.Loops):
		v.bad("%v sums", in.Op)
	case in.Op == Iota && len(in.Args) > 1:
		v.bad("%v has %d arguments", in.Op, len(in.Args))
	case (in.Op == Iota || in.Op == Stack) && len(in.Over) != 1:
		v.bad("%v names %d loops, not one", in.Op, len(in.Over))
	case (in.Op == SolveOp) != (in.Solve != nil):
		v.bad("%v and a residual do not go together", in.Op)
	}
}

// solve checks that the arguments are what the residual takes.
func (v *verifier) solve(in *Instr) {
	if in.Solve == nil || in.Solve.Residual == nil || len(in.Args) < 2 {
		v.bad("a solve has a residual and a range")
		return
	}
	f, n := in.Solve.Residual, len(in.Out.Axes)
	if !(in.Solve.Tol > 0) {
		v.bad("a solve has a tolerance above 0")
	}
	if len(f.Params) != len(in.Args)-1 || len(f.Params[0].Axes) > 0 || f.Params[0].Elem != Real {
		v.bad("the residual %s does not take the unknown and the arguments", f.Name)
		return
	}
	if len(f.Results) != 1 || len(f.Results[0].Val.Axes) > 0 || f.Results[0].Val.Elem != Real {
		v.bad("the residual %s does not give one number", f.Name)
		return
	}
	if !Identity(in.To, n) || len(in.Guard) > 0 {
		v.bad("a solve runs over its output's axes first, without a guard")
	}
	for k := range 2 {
		if in.Args[k].Val.Elem != Real {
			v.bad("an end of a range is no number")
		}
	}
	next := n
	for k, p := range f.Params[1:] {
		if p.Elem != in.Args[k+2].Val.Elem {
			v.bad("parameter %s of the residual has other entries than its argument", p.Name)
		}
		for _, a := range p.Axes {
			if next >= len(in.Loops) || in.Loops[next] != a {
				v.bad("the loops of parameter %s of the residual are not its axes", p.Name)
				return
			}
			next++
		}
	}
	if next != len(in.Loops) || len(in.Over) != next-n {
		v.bad("a solve has a loop that is none of its arguments'")
		return
	}
	for i, l := range in.Over {
		if l != n+i {
			v.bad("the loops of a solve's arguments are out of order")
		}
	}
	v.program(f, v.where)
}

func (v *verifier) reshape(in *Instr) {
	size := func(axes []*Axis) string {
		p := one
		for _, a := range axes {
			p = p.Mul(a.Size)
		}
		return p.String()
	}
	if in.Op == Narrow && !slices.Equal(in.Args[0].Val.Axes, in.Out.Axes) {
		v.bad("%v to other axes", in.Op)
	}
	if x, y := size(in.Args[0].Val.Axes), size(in.Out.Axes); x != y {
		v.bad("%v of %s entries to %s", in.Op, x, y)
	}
}

// kinds checks the kinds of entries.
func (v *verifier) kinds(in *Instr) {
	want := func(i int, kinds ...Elem) {
		if e := in.Args[i].Val.Elem; !slices.Contains(kinds, e) {
			v.bad("argument %d of %v has %v entries", i, in.Op, e)
		}
	}
	for i := range in.Args {
		switch {
		case in.Op == Lin && in.Out.Elem == Int && slices.Equal(in.Coef, []float64{1, 0}): // a copy
			want(i, Int)
			return
		}
		switch in.Op {
		case Less, LessEq:
			want(i, Real, Int)
		case Equal:
			want(i, Real, Int, Bool)
		case And, Or, Not:
			want(i, Bool)
		case Iota:
			want(i, Int)
		case ToReal:
			want(i, Real, Int, Bool)
		case Select:
			if i == 0 {
				want(i, Bool)
			} else {
				want(i, Real)
			}
		default:
			want(i, Real)
		}
	}
	if out := in.Op.Info().Out; out != 0 && in.Out.Elem != out && in.Op != Const {
		v.bad("%v gives %v entries, not %v", in.Op, out, in.Out.Elem)
	}
}
