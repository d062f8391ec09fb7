// Package lower turns tensor programs into loop programs.
//
// The passes over a program:
//
//	prepare     each recurrence runs through the table of scanPasses (hoisting and
//	            sinking out of time, independent rows, forward substitution); sums
//	            are reassociated, equal instructions merged, and arguments packed
//	fusion      instructions over the same loops become one nest; values between
//	            nests are in memory, all others are scalars, inlined, or
//	            rematerialised in every nest that reads them
//	write       nests, matrix products, triangular solves, root findings and
//	            recurrences become plan nodes
//	optimise    package loopopt improves the body
//
// A sum keeps the order of its loops, so no choice made here, of blocks, chunks or
// batches, changes a bit of a result.
package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Func lowers a program that has no backward. The backward of a recurrence
// cannot be lowered alone: see Pair.
func Func(f *ir.Func) (*plan.Kernel, error) { return lower(f, nil) }

// Pair lowers a forward and its backward. The forward has a checkpoint buffer,
// named STATE.checkpoints, for each state that the backward replays. It is
// optional, as are the saved outputs of a recurrence: without them the forward
// computes the same bits and keeps nothing.
func Pair(p *ir.Pair) (fwd, bwd *plan.Kernel, err error) {
	m := match(p)
	if bwd, err = lower(p.Bwd, m); err != nil {
		return nil, nil, err
	}
	m.forward = true
	if fwd, err = lower(p.Fwd, m); err != nil {
		return nil, nil, err
	}
	for _, b := range bwd.Params {
		if b.Role == plan.Checkpoint && !slices.ContainsFunc(fwd.Params, func(f *plan.Buffer) bool { return f.Name == b.Name && layout(fwd, f) == layout(bwd, b) }) {
			panic("lower: BUG: the forward of " + p.Fwd.Name + " does not store " + b.Name + " as the backward reads it")
		}
	}
	return fwd, bwd, nil
}

// layout prints the sizes of a buffer, a number of segments as the quotient
// that it is.
func layout(k *plan.Kernel, b *plan.Buffer) string {
	var out []string
	for _, d := range b.Dims {
		text := d.String()
		for _, q := range k.Ceils {
			if d.Equal(shape.Sym(q.Name)) {
				text = "segments of " + q.Num.String()
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// A lowerer writes one kernel.
type lowerer struct {
	f      *ir.Func
	k      *plan.Kernel
	links  *scanLinks
	names  map[string]bool
	places map[*ir.Value]place       // values in memory
	alsoTo map[*ir.Value][]target    // further places a value is written to
	locals map[*ir.Value]*plan.Local // scalars in scope
	sizes  map[string]bool           // free sizes
	scans  map[*ir.Instr]*recurrence // prepared recurrences
	eqs    map[*ir.Instr][]string    // equations of what a product reads through
	sunk   map[*ir.Value]*ir.Value   // values of a body that are computed after it for all tokens
	counts map[*ir.Value]plan.Index  // of counts: the tokens that are added to the integer of the batch
}

// A place addresses a value in memory.
type place func(idx []plan.Index) plan.Access

// A target is a further place that receives a value.
type target struct {
	at  place
	add bool
	opt *plan.Buffer // may be absent
}

func lower(f *ir.Func, m *scanLinks) (k *plan.Kernel, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case unsupported:
			k, err = nil, fmt.Errorf("lower %s: %s", f.Name, string(e))
		default:
			panic(e)
		}
	}()
	g, _ := f.Clone()
	l := &lowerer{f: g, k: &plan.Kernel{Name: f.Name}, links: m, names: map[string]bool{},
		places: map[*ir.Value]place{}, alsoTo: map[*ir.Value][]target{}, locals: map[*ir.Value]*plan.Local{},
		sizes: map[string]bool{}, scans: map[*ir.Instr]*recurrence{}, eqs: map[*ir.Instr][]string{}, sunk: map[*ir.Value]*ir.Value{}, counts: map[*ir.Value]plan.Index{}}
	l.collectSizes()
	l.chunks()
	l.params()
	l.prepare()
	l.results()
	r := l.region(g.Body, nil)
	l.k.Body = append(l.k.Body, r.write()...)
	l.finish()
	return l.k, nil
}

// unsupported is the panic of a program that this package cannot lower.
type unsupported string

func fail(format string, args ...any) { panic(unsupported(fmt.Sprintf(format, args...))) }

// fresh returns name, or name.2, … when the kernel has it already.
func (l *lowerer) fresh(name string) string {
	for n, s := 2, name; ; n++ {
		if !l.names[s] {
			l.names[s] = true
			return s
		}
		s = fmt.Sprintf("%s.%d", name, n)
	}
}

func dims(axes []*ir.Axis) []shape.Poly {
	out := make([]shape.Poly, len(axes))
	for i, a := range axes {
		out[i] = a.Size
	}
	return out
}

// whole addresses a buffer with the value's own axes.
func whole(b *plan.Buffer) place {
	return func(idx []plan.Index) plan.Access { return plan.Access{Buf: b, Index: slices.Clone(idx)} }
}

func (l *lowerer) params() {
	for _, p := range l.f.Params {
		b := &plan.Buffer{Name: l.fresh(p.Name), Of: p.Name, Elem: p.Elem, Dims: dims(p.Axes), Role: plan.Read, Position: p.IsPosition()}
		if p.Role == ir.Adjoint {
			b.Primal, _ = ir.AdjointOf(p.Name)
		}
		l.k.Params = append(l.k.Params, b)
		l.places[p] = whole(b)
	}
}

// results assigns a buffer to each result. A result that is a parameter, or
// that equals another result, is a copy.
func (l *lowerer) results() {
	seen, times := map[*ir.Value]bool{}, map[*ir.Value]int{}
	for _, r := range l.f.Results {
		times[r.Val]++
	}
	for i := range l.f.Results {
		r := &l.f.Results[i]
		name := r.Name
		if l.names[name] {
			name += ".out"
		}
		b := &plan.Buffer{Name: l.fresh(name), Of: r.Name, Elem: r.Val.Elem, Dims: dims(r.Val.Axes), Role: plan.Write}
		if of, ok := ir.AdjointOf(r.Name); ok {
			b.Primal = of
		}
		l.k.Params = append(l.k.Params, b)
		other := r.Val.Def != nil && times[r.Val] > 1 && r.Eq != "" && r.Eq != r.Val.Def.Eq // the value is another result's own
		if r.Val.Def != nil && !seen[r.Val] && !other && l.underView(r.Val, b) {
			seen[r.Val] = true
			l.places[r.Val] = whole(b)
			continue
		}
		if r.Val.Def == nil || seen[r.Val] || other || r.Val.Def.Op.Info().View {
			r.Val = l.copyOf(r.Val, r.Eq)
		}
		seen[r.Val] = true
		l.places[r.Val] = whole(b)
	}
}

// underView lets the source of a result that is a reshape be computed in the memory of the
// result, where it has no place of its own.
func (l *lowerer) underView(v *ir.Value, b *plan.Buffer) bool {
	if v.Def.Op != ir.Reshape {
		return false
	}
	from := v.Def.Args[0].Val
	if from.Def == nil || from.Def.Op != ir.Prod && from.Def.Op != ir.Lin || l.places[from] != nil || slices.ContainsFunc(l.f.Results, func(r ir.Result) bool { return r.Val == from }) {
		return false
	}
	view := &plan.Buffer{Name: l.fresh(b.Name + ".view"), Elem: b.Elem, Dims: dims(from.Axes), Role: plan.View, ViewOf: b}
	l.k.Work = append(l.k.Work, view)
	l.places[from] = whole(view)
	return true
}

// copyOf appends an instruction that copies v, for an equation or for that of
// v.
func (l *lowerer) copyOf(v *ir.Value, eq string) *ir.Value {
	b := &ir.Builder{F: l.f}
	b.Eq = eq
	if v.Def != nil && eq == "" {
		b.Eq = v.Def.Eq
	}
	c := b.Lin(v.Axes, 0, []float64{1}, ir.All(v))
	c.Elem = v.Elem
	return c
}

// work makes a workspace buffer.
func (l *lowerer) work(name string, elem ir.Elem, d []shape.Poly) *plan.Buffer {
	b := &plan.Buffer{Name: l.fresh(name), Elem: elem, Dims: d, Role: plan.Work}
	l.k.Work = append(l.k.Work, b)
	return b
}

// prepare rewrites the program; every rewrite keeps its values up to rounding.
func (l *lowerer) prepare() {
	for n, in := range scansOf(l.f) {
		l.scans[in] = l.prepareScan(in, n)
	}
	unrollSums(l.f)
	factor(l.f)
	merge(l.f, l.replace)
	sortFactors(l.f.Body, nil)
	l.sweep()
	l.pack()
}

// replace makes every reader of old in the program read new.
func (l *lowerer) replace(old, new *ir.Value) {
	l.f.Replace(old, new)
	for _, rec := range l.scans {
		rec.replace(old, new)
	}
}

// sweep is dead code elimination; recurrences lose outputs that nothing reads,
// but keep their prepared bodies.
func (l *lowerer) sweep() {
	live := map[*ir.Value]bool{}
	for _, r := range l.f.Results {
		live[r.Val] = true
	}
	var kept []*ir.Instr
	for i := len(l.f.Body) - 1; i >= 0; i-- {
		in := l.f.Body[i]
		needed := slices.ContainsFunc(in.Defines(), func(v *ir.Value) bool { return live[v] })
		if !needed {
			continue
		}
		for _, v := range l.reads(in) {
			live[v] = true
		}
		kept = append(kept, in)
	}
	slices.Reverse(kept)
	l.f.Body = kept
}

// reads is what an instruction reads, the replay of a recurrence included.
func (l *lowerer) reads(in *ir.Instr) []*ir.Value {
	rec := l.scans[in]
	if rec == nil {
		return in.Reads()
	}
	return rec.reads()
}
