// Package simplify rewrites tensor programs to smaller ones with the same
// values, and compares programs by canonical form.
//
// Simplify is algebraic simplification in the manner of an optimising compiler:
// constant folding, copy propagation, inlining of elementwise values,
// reassociation, factoring of common factors, choice of the order of a
// contraction, and common subexpressions by hash-based value numbering. Canon is
// a normal form of polynomials over opaque atoms; Equal, EqualGradients, Hash and
// Values are built on it. Stacks, Gathers and Guards are passes around the differentiation:
// they rewrite how windows and concatenations are read, to forms that can be computed where
// they are needed.
package simplify

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Simplify rewrites f to a smaller program with the same values.
//
// The first phase runs to a fixed point: constants are folded, copies,
// scalings and products are inlined, nested sums are flattened, and every sum
// over loops keeps only the factors that depend on its loops. Equal
// instructions become one by value numbering. The second phase multiplies
// first those factors of a product that need fewer loops, which the first
// phase would undo.
//
// No rewrite makes work that was done once be done twice, except a scaling.
// Values under Stop and Override, and the side that wins a tie, stay, so a
// program may be simplified before or after its adjoints are added.
func Simplify(f *ir.Func) {
	bodies := map[*ir.Func]bool{}
	f.Sweep()
	for range maxPasses {
		s := newSimplifier(f, bodies)
		s.pass(expand)
		f.Sweep()
		if !s.changed {
			break
		}
	}
	s := newSimplifier(f, bodies)
	s.pass(groupFactors)
	f.Sweep()
}

// maxPasses bounds the first phase. Each rewrite shrinks the program or an
// iteration space; ten passes are already many.
const maxPasses = 40

// A simplifier is one pass over one program. It rebuilds the body, so that
// each instruction sees the new form of everything before it.
type simplifier struct {
	f           *ir.Func
	b           *ir.Builder // of the new body
	all         []*ir.Instr // the old body
	uses        map[*ir.Value]int
	replacement map[*ir.Value]*ir.Value // what a value was replaced by
	seen        map[string]*ir.Instr    // instructions by their normal form
	ids         map[any]int             // numbers of axes, for the normal form
	consts      map[float64]*ir.Value
	order       map[*ir.Value]int           // when values were defined
	kept        map[*ir.Instr][]*ir.Value   // values of scan bodies that are replayed
	bodies      map[*ir.Func]bool           // scan bodies that are simple already
	decomposed  map[*ir.Value][]lowRankTerm // structured values, taken apart
	phase       phase
	changed     bool
}

// A phase rewrites one instruction whose reads are up to date; it returns the
// value that replaces the output, or nil when the instruction stays.
type phase func(s *simplifier, in *ir.Instr) *ir.Value

func newSimplifier(f *ir.Func, bodies map[*ir.Func]bool) *simplifier {
	return &simplifier{f: f, b: &ir.Builder{F: f}, all: f.Body, uses: f.Uses(), kept: f.Replayed(), bodies: bodies,
		replacement: map[*ir.Value]*ir.Value{}, seen: map[string]*ir.Instr{}, order: map[*ir.Value]int{}, ids: map[any]int{}, decomposed: map[*ir.Value][]lowRankTerm{}, consts: map[float64]*ir.Value{}}
}

func (s *simplifier) pass(p phase) {
	s.phase = p
	s.f.Body = nil
	for _, v := range s.f.Params {
		s.order[v] = len(s.order)
	}
	for _, in := range s.all {
		s.b.Eq, s.b.Span = in.Eq, in.Span
		s.refresh(in)
		if in.Scan != nil {
			s.scan(in)
			s.append(in)
			continue
		}
		s.insert(in)
	}
	for i, r := range s.f.Results {
		s.f.Results[i].Val = s.value(r.Val)
	}
}

// insert appends the rewritten instruction to the new body, or replaces it by
// an equal one that is there already.
func (s *simplifier) insert(in *ir.Instr) {
	if v := s.phase(s, in); v != nil {
		s.replace(in.Out, v)
		return
	}
	key := s.key(in)
	old := s.seen[key]
	switch {
	case old == nil:
		s.seen[key] = in
	case slices.Equal(old.Coef, in.Coef) || in.Op != ir.Prod:
		s.replace(in.Out, old.Out)
		return
	case len(in.Reduced()) > 0 && in.Coef[0]/old.Coef[0]*old.Coef[0] == in.Coef[0]:
		s.makeMultiple(in, in.Coef[0]/old.Coef[0], old.Out)
	}
	in.Out.Def = in
	s.append(in)
}

func (s *simplifier) append(in *ir.Instr) {
	s.f.Body = append(s.f.Body, in)
	for _, v := range in.Defines() {
		s.order[v] = len(s.order)
	}
}

// makeMultiple turns an instruction into a multiple of a value of the same axes.
func (s *simplifier) makeMultiple(in *ir.Instr, c float64, v *ir.Value) {
	in.Loops, in.To, in.Guard = in.Out.Axes, ir.Ls(len(in.Out.Axes)), nil
	in.Args, in.Coef = []ir.Arg{ir.All(v)}, []float64{c}
	s.uses[v]++
	s.changed = true
}

// emit appends a new product and returns its value.
func (s *simplifier) emit(in *ir.Instr, axes []*ir.Axis) *ir.Value {
	in.Out = &ir.Value{Name: s.f.Fresh("%"), Elem: ir.Real, Axes: axes, Def: in}
	in.Eq, in.Span = s.b.Eq, s.b.Span
	s.insert(in)
	return s.value(in.Out)
}

// replace makes later readers of old read v. A name from the page is preferred
// to a temporary.
func (s *simplifier) replace(old, v *ir.Value) {
	s.replacement[old] = v
	s.uses[v] += s.uses[old]
	s.changed = true
	if v.Def != nil && v.Temporary() && !old.Temporary() {
		v.Name, old.Name = old.Name, v.Name
	}
}

func (s *simplifier) value(v *ir.Value) *ir.Value {
	for s.replacement[v] != nil {
		v = s.replacement[v]
	}
	return v
}

// refresh substitutes replaced values.
func (s *simplifier) refresh(in *ir.Instr) {
	in.Own()
	in.EachRead(func(v **ir.Value) { *v = s.value(*v) })
}

// constant is the scalar constant c.
func (s *simplifier) constant(c float64) *ir.Value {
	if v := s.consts[c]; v != nil {
		return v
	}
	s.consts[c] = s.b.Const(c)
	return s.consts[c]
}
