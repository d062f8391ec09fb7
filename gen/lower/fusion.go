package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/loopopt"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// Loop fusion. Instructions over the same loops are fused greedily, in program
// order, into the last nest that all their reads permit.

// A region is a list of instructions under the same bound loops: the program
// itself, or the body of a recurrence for one token of one element of the
// batch, and of one row where rows are independent.
type region struct {
	l              *lowerer
	body           []*ir.Instr
	rows           *independentRows               // nil when no row is bound
	row            *plan.Var                      // the bound row
	search         bool                           // the body is a residual, computed at each trial of a search
	point          []plan.Index                   // of a residual: the point, in front of the subscripts of what it keeps in memory
	alloc          func(v *ir.Value) *plan.Buffer // memory for a value between nests
	inline         map[*ir.Value]bool
	inMemory       map[*ir.Value]bool // kept in memory by whoever made the region
	alwaysInline   map[*ir.Value]bool // always computed where read
	rematerialised map[*ir.Value]bool // computed in every nest that reads it, once there
	step           bool               // the body is that of a recurrence
	def            map[*ir.Value]int  // number of the group that defines a value
	groups         []*group

	wholeProducts bool                      // products stay whole, see chunkStep
	sumOf         map[*ir.Instr]*sumTarget  // sums that summands are added to in memory,
	summands      map[*ir.Instr][]*ir.Instr // and the other way round
	firstGroup    map[*ir.Value]int         // number of the group that begins such a sum

	scheduled func() // runs when all groups are known
}

// A group is one nest: instructions over the same loops in the same order, or
// one instruction that is not lowered to a nest of the ordinary kind.
type group struct {
	key     string
	members []*member
	vars    []*plan.Var
	sizes   []shape.Poly
	eqs     []string
}

// A member is an instruction of a group.
type member struct {
	in      *ir.Instr
	order   []int                                // its loops in the order of the nest, without the row
	loops   []plan.Index                         // the value of each of its loops
	reduced []bool                               // per loop of the nest: the output does not have it
	row     bool                                 // sums over the bound row
	depth   int                                  // where a sum starts, or −1 when it adds in memory
	special func(*region, *ir.Instr) []plan.Node // not nil: writes the instruction in its own way
}

func (l *lowerer) region(body []*ir.Instr, rows *independentRows) *region {
	return &region{l: l, body: body, rows: rows, inline: map[*ir.Value]bool{}, inMemory: map[*ir.Value]bool{}, alwaysInline: map[*ir.Value]bool{}, rematerialised: map[*ir.Value]bool{},
		def: map[*ir.Value]int{}, sumOf: map[*ir.Instr]*sumTarget{}, summands: map[*ir.Instr][]*ir.Instr{}, firstGroup: map[*ir.Value]int{},
		alloc: func(v *ir.Value) *plan.Buffer { return l.work(v.Name, v.Elem, dims(v.Axes)) }}
}

// write schedules the region and writes its groups.
func (r *region) write() []plan.Node {
	if r.wholeProducts || r.top() {
		r.accumulate()
	}
	r.chooseInline()
	for _, in := range r.body {
		switch {
		case in.Out != nil && r.inline[in.Out] || r.sumOf[in] != nil:
		case len(r.summands[in]) > 0:
			r.scheduleSum(in)
		default:
			r.schedule(in)
		}
	}
	if r.scheduled != nil {
		r.scheduled()
	}
	r.allocate()
	var out []plan.Node
	for n, g := range r.groups {
		out = append(out, r.group(n, g)...)
	}
	if r.wholeProducts {
		out = loopopt.DropRedundantStores(out)
	}
	return out
}

// top reports whether the region is the program itself.
func (r *region) top() bool { return !r.step && r.rows == nil && !r.search }

// schedule puts an instruction into the last group that it can join, or a new
// one. It can join a group over the same loops when its reads are defined
// before the group, or in the group at the entry that is read.
func (r *region) schedule(in *ir.Instr) {
	m := r.member(in)
	if m.special != nil {
		r.add(&group{key: "own"}, m)
		return
	}
	key := r.key(m)
	for n := len(r.groups) - 1; n >= 0 && len(r.summands[in]) == 0; n-- {
		g := r.groups[n]
		if r.addsAfter(in, n) {
			break
		}
		if g.key == key {
			r.bind(m, g)
			if r.fits(m, n) && !(m.inScalar() && g.full()) {
				r.append(n, m)
				return
			}
		}
		if r.reaches(m, n) {
			break
		}
	}
	g := &group{key: key}
	for i, l := range m.order {
		g.vars = append(g.vars, r.l.loopVar(i, r))
		g.sizes = append(g.sizes, in.Loops[l].Size)
	}
	r.bind(m, g)
	r.add(g, m)
}

// maxSums is the most sums that a nest outside of recurrences has in scalars: each takes two
// registers of an instruction set with sixteen.
const maxSums = 5

// inScalar reports whether a member is a sum in a scalar.
func (m *member) inScalar() bool { return m.depth >= 0 && m.depth < len(m.order) }

// full reports whether a group has as many sums in scalars as registers allow.
func (g *group) full() bool {
	n := 0
	for _, m := range g.members {
		if m.inScalar() {
			n++
		}
	}
	return n >= maxSums
}

// addsAfter reports whether group n computes what an instruction is added to.
func (r *region) addsAfter(in *ir.Instr, n int) bool {
	t := r.sumOf[in]
	if t == nil {
		return false
	}
	at, ok := r.def[t.sum.Out]
	return ok && at >= n
}

func (r *region) add(g *group, m *member) {
	r.groups = append(r.groups, g)
	r.append(len(r.groups)-1, m)
}

func (r *region) append(n int, m *member) {
	g := r.groups[n]
	g.members = append(g.members, m)
	r.note(g, m.in)
	for _, v := range m.in.Defines() {
		r.def[v] = n
	}
}

// note records the equations of an instruction, and those of the values
// inlined in it, with its group.
func (r *region) note(g *group, in *ir.Instr) {
	for _, e := range slices.Concat([]string{in.Eq}, in.AlsoEqs, r.l.eqs[in]) {
		if e != "" && !slices.Contains(g.eqs, e) {
			g.eqs = append(g.eqs, e)
		}
	}
	for _, a := range in.Args {
		if r.inline[a.Val] && a.Val.Def != nil {
			r.note(g, a.Val.Def)
		}
	}
}

// member places an instruction in a nest.
func (r *region) member(in *ir.Instr) *member {
	m := &member{in: in, row: false, depth: -1}
	if m.special = r.special(in); m.special != nil {
		return m
	}
	m.order = r.order(in)
	kept := map[int]bool{}
	for _, s := range in.To {
		for _, t := range s.Terms {
			kept[t.Loop] = true
		}
	}
	if bound := r.rowLoop(in); bound >= 0 {
		m.row = !kept[bound]
	}
	m.reduced = make([]bool, len(m.order))
	for i, l := range m.order {
		m.reduced[i] = !kept[l]
	}
	m.depth = len(m.order)
	for m.depth > 0 && m.reduced[m.depth-1] {
		m.depth--
	}
	if !fills(in) || slices.Contains(m.reduced[:m.depth], true) {
		m.depth = -1
	}
	return m
}

// sums reports whether a member accumulates: it is not elementwise.
func (m *member) sums() bool { return m.depth < len(m.order) || m.row || len(m.in.Guard) > 0 }

// special is how an instruction is written if not in a nest of the ordinary
// kind, or nil.
func (r *region) special(in *ir.Instr) func(*region, *ir.Instr) []plan.Node {
	if r.isProduct(in) {
		return (*region).gemm
	}
	return specials[in.Op]
}

// isProduct reports whether an instruction becomes a matrix product.
func (r *region) isProduct(in *ir.Instr) bool {
	return r.rows == nil && !r.search && asMatmul(in) != nil
}

func (r *region) rowLoop(in *ir.Instr) int {
	if r.rows == nil {
		return -1
	}
	return r.rows.loopOf(in)
}

// bind assigns the variables of a group to the member's loops.
func (r *region) bind(m *member, g *group) {
	m.loops = make([]plan.Index, len(m.in.Loops))
	if bound := r.rowLoop(m.in); bound >= 0 {
		m.loops[bound] = plan.At(r.row)
	}
	for i, l := range m.order {
		m.loops[l] = plan.At(g.vars[i])
	}
}

// key is equal for instructions whose nests are the same.
func (r *region) key(m *member) string {
	var b strings.Builder
	at := map[int]int{}
	if bound := r.rowLoop(m.in); bound >= 0 {
		at[bound] = -1
	}
	for i, l := range m.order {
		fmt.Fprintf(&b, "%p ", m.in.Loops[l])
		at[l] = i
	}
	for _, g := range m.in.Guard {
		b.WriteString("| ")
		subKey(&b, g, at)
	}
	return b.String()
}

func subKey(b *strings.Builder, s ir.Sub, at map[int]int) {
	fmt.Fprintf(b, "%s", s.Const)
	for _, t := range s.Terms {
		fmt.Fprintf(b, " %d*%d", t.Coef, at[t.Loop])
	}
	if s.Indirect != nil {
		fmt.Fprintf(b, " via %p", s.Indirect.Val)
		for _, v := range s.Indirect.Sub {
			b.WriteString(", ")
			subKey(b, v, at)
		}
	}
}

// fits reports whether a member, bound to group n, may join it.
func (r *region) fits(m *member, n int) bool {
	for _, x := range r.reads(m.in, m.loops) {
		d, ok := r.def[x.val]
		if !ok || d < n {
			continue
		}
		if d > n || !r.same(x, r.groups[n]) {
			return false
		}
	}
	return true
}

// reaches reports whether a member reads a value of group n, so that it cannot
// run before it.
func (r *region) reaches(m *member, n int) bool {
	return slices.ContainsFunc(r.valuesRead(m.in), func(v *ir.Value) bool {
		d, ok := r.def[v]
		return ok && d == n
	})
}

// same reports whether a read is of the entry that the group computes at that
// point of its nest.
func (r *region) same(x read, g *group) bool {
	for _, m := range g.members {
		if m.in.Out != x.val {
			continue
		}
		if m.sums() {
			return false
		}
		for i, s := range m.in.To {
			l, _ := s.Loop()
			if !x.idx[i].Equal(m.loops[l]) {
				return false
			}
		}
		return true
	}
	return false
}

// order is the order of an instruction's loops in its nest, without the row.
// Loops of the output come first; a sum runs innermost, in a scalar, unless
// the other order has unit stride where this one has not.
func (r *region) order(in *ir.Instr) []int {
	bound := r.rowLoop(in)
	var kept, summed []int
	seen := map[int]bool{}
	for _, s := range in.To {
		for _, t := range s.Terms {
			if !seen[t.Loop] && t.Loop != bound {
				kept = append(kept, t.Loop)
			}
			seen[t.Loop] = true
		}
	}
	for l := range in.Loops {
		if !seen[l] && l != bound {
			summed = append(summed, l)
		}
	}
	if len(summed) == 0 || len(kept) == 0 {
		return append(kept, summed...)
	}
	last := kept[len(kept)-1]
	if strides(in, last) < strides(in, summed[len(summed)-1]) && len(in.To) > 0 && unitStride(in.To, last) {
		return append(append(slices.Clone(kept[:len(kept)-1]), summed...), last)
	}
	return append(kept, summed...)
}

// strides counts the arguments in which a loop has no unit stride.
func strides(in *ir.Instr, loop int) int {
	n := 0
	for _, a := range in.Args {
		if uses(a.Sub, loop) && !unitStride(a.Sub, loop) {
			n++
		}
	}
	return n
}

func uses(subs []ir.Sub, loop int) bool {
	return slices.ContainsFunc(subs, func(s ir.Sub) bool {
		return slices.ContainsFunc(s.Terms, func(t ir.Term) bool { return t.Loop == loop }) ||
			s.Indirect != nil && uses(s.Indirect.Sub, loop)
	})
}

// unitStride reports whether a loop moves an address by one entry.
func unitStride(subs []ir.Sub, loop int) bool {
	if len(subs) == 0 || uses(subs[:len(subs)-1], loop) {
		return false
	}
	last := subs[len(subs)-1]
	return last.Indirect == nil && slices.Contains(last.Terms, ir.Term{Loop: loop, Coef: 1})
}

// loopVar names the i-th loop of a nest.
func (l *lowerer) loopVar(i int, r *region) *plan.Var {
	const letters = "ijkmpqruvwxyz"
	if r.row != nil || r.rows != nil {
		i++
	}
	i += len(r.point)
	if i < len(letters) {
		return &plan.Var{Name: letters[i : i+1]}
	}
	return &plan.Var{Name: fmt.Sprintf("i%d", i)}
}
