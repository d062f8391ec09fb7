package emitasm

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/shape"
)

// Registers of a body. Accumulators come first; then homes that are used most
// are pinned for the loop around the body, as many as leave room for what the
// body computes; every other home is loaded where it is used. Temporaries take
// the lowest free register from their instruction to their last use.

type allocation struct {
	*code
	m        machine
	b        *body
	acc      []int       // register of each accumulator
	pinned   map[val]int // register of each pinned home
	reg      map[val]int
	free     []bool
	last     map[val]int // number of the last instruction that uses a value
	loop     bool        // the body is in a loop, so homes may be pinned
	failed   bool
	now      int            // number of the present instruction
	holds    map[int]val    // accumulators' registers that hold a value on its way to the next
	folded   map[val]*inst  // loads that the instruction does that needs them
	elements map[val]bool   // numbers for all lanes that are in the first one alone
	pointer  string         // that the work register holds
	pointed  *stream        // whose pointer it is
	masks    map[int]string // the mask that a free register holds
	cached   registerCache  // outside the vector loops: which slots registers hold, or nil
}

// allocate gives registers to a body and prints it. A body that does not fit
// even without pinned homes lays values down in slots, as far as there is one
// more, or fails. Outside the vector loops, cached says which slots registers hold, and
// is kept up to date.
func allocate(b *body, loop bool, known registerCache, slot func() (home, bool)) (*allocation, bool) {
	var homes []val
	if loop {
		homes = b.used()
	}
	for {
		a := newAllocation(b, homes, loop)
		if a != nil && known != nil {
			a.pinCached(known)
		}
		if a != nil && a.run() {
			return a, true
		}
		if len(homes) > 0 {
			homes = homes[:len(homes)-1]
			continue
		}
		at, more := slot()
		if a == nil || !more || !a.spill(at) {
			return nil, false
		}
	}
}

// used lists the homes of a body, the most used first.
func (b *body) used() []val {
	count := map[val]int{}
	for _, in := range b.insts {
		for _, x := range in.args {
			if b.vals[x].home != nil && !b.vals[x].spilled {
				count[x]++
			}
		}
	}
	for _, x := range b.accOut {
		if b.vals[x].home != nil && !b.vals[x].spilled {
			count[x]++
		}
	}
	var out []val
	for v := range b.vals {
		if count[val(v)] > 0 {
			out = append(out, val(v))
		}
	}
	slices.SortStableFunc(out, func(x, y val) int { return count[y] - count[x] })
	return out
}

func newAllocation(b *body, pin []val, loop bool) *allocation {
	text := &code{}
	a := &allocation{code: text, m: b.t.machine(text), b: b, pinned: map[val]int{}, reg: map[val]int{}, free: make([]bool, b.t.regs), last: map[val]int{}, loop: loop, holds: map[int]val{}, masks: map[int]string{}}
	if max(b.accs, b.keep)+len(pin) > b.t.regs {
		return nil
	}
	n := 0
	for range b.accs {
		a.acc = append(a.acc, n)
		n++
	}
	n = max(n, b.keep)
	for _, v := range pin {
		a.pinned[v] = n
		n++
	}
	for i := n; i < len(a.free); i++ {
		a.free[i] = true
	}
	for i, in := range b.insts {
		for _, x := range in.args {
			a.last[x] = i
		}
	}
	if b.t.memoryOperands {
		a.fold()
	} else {
		a.elements = elements(b)
	}
	for i, x := range b.accOut {
		if x != b.accIn[i] {
			a.last[x] = len(b.insts) + i
		}
	}
	return a
}

// take takes a free register, one that holds no slot and no mask if there is any.
func (a *allocation) take() int {
	best := -1
	for i, ok := range a.free {
		if ok && (best < 0 || a.keeps(best) && !a.keeps(i)) {
			best = i
		}
	}
	if best < 0 {
		a.failed = true
		return 0
	}
	a.free[best] = false
	a.clobber(best)
	return best
}

// keeps reports whether a free register holds a slot or a mask that may be needed.
func (a *allocation) keeps(reg int) bool {
	return a.masks[reg] != "" || a.cached != nil && len(a.cached[reg]) > 0
}

// operand is the register of an argument; a home that is not pinned is loaded
// into one that is free again after the instruction.
func (a *allocation) operand(v val, spare *[]int) int {
	info := a.b.vals[v]
	if info.acc > 0 {
		return a.acc[info.acc-1]
	}
	if r, ok := a.pinned[v]; ok {
		return r
	}
	if r, ok := a.reg[v]; ok {
		return r
	}
	if info.home == nil {
		panic("emitasm: BUG: a value is used before it is set")
	}
	r := a.take()
	*spare = append(*spare, r)
	a.m.load(*info.home, r, a.b.t.width)
	return r
}

// loads counts the instructions that read memory.
func (a *allocation) loads() int {
	n := 0
	for _, l := range a.lines {
		if a.b.t.reads.MatchString(l) {
			n++
		}
	}
	return n
}

// dies reports whether instruction i is the last that needs a temporary.
func (a *allocation) dies(v val, i int) bool {
	return a.b.vals[v].home == nil && a.last[v] == i
}

// run prints the body; false when it runs out of registers.
func (a *allocation) run() bool {
	for i, in := range a.b.insts {
		a.now = i
		a.inst(i, in)
		if a.failed {
			return false
		}
	}
	a.finish()
	return !a.failed
}

// finish moves what accumulators became into their registers. One that became
// what another was is not there in the plan.
func (a *allocation) finish() {
	for i, v := range a.b.accOut {
		if v == a.b.accIn[i] {
			continue
		}
		var spare []int
		if r := a.operand(v, &spare); r != a.acc[i] {
			a.m.copy(r, a.acc[i])
		}
		for _, r := range spare {
			a.free[r] = true
		}
	}
}

// goal is the accumulator that a value becomes, if its register is free to take
// it at instruction i: what it held before is not needed any more.
func (a *allocation) goal(v val, i int) int {
	for n, out := range a.b.accOut {
		if out != v || a.lastOf(a.b.accIn[n]) > i {
			continue
		}
		if held, ok := a.holds[a.acc[n]]; !ok || a.last[held] <= i {
			return n
		}
	}
	return -1
}

func (a *allocation) lastOf(v val) int {
	if l, ok := a.last[v]; ok {
		return l
	}
	return -1
}

// inst prints one instruction.
func (a *allocation) inst(i int, in inst) {
	if a.folded[in.dst] != nil {
		return
	}
	var spare []int
	regs := make([]int, len(in.args))
	direct := a.fromMemory(in)
	for k, x := range in.args {
		if k == direct {
			regs[k] = -1
			continue
		}
		regs[k] = a.operand(x, &spare)
	}
	own := map[int]bool{} // registers that end here and may take the result
	for k, x := range in.args {
		if k != direct && (a.dies(x, i) || slices.Contains(spare, regs[k])) {
			own[regs[k]] = true
		}
	}
	dst := -1
	if in.dst != none {
		if n := a.goal(in.dst, i); n >= 0 {
			dst = a.acc[n]
		}
	}
	at := a.m.print(a, in, regs, own, dst)
	a.record(in, regs, at)
	for r := range own {
		if r >= len(a.acc) && r != at {
			a.free[r] = true
		}
		delete(a.holds, r)
	}
	if in.dst != none {
		a.reg[in.dst] = at
		if at < len(a.acc) {
			a.holds[at] = in.dst
		}
		if _, needed := a.last[in.dst]; !needed && at >= len(a.acc) {
			a.free[at] = true
		}
	}
}

// result is where a result may go when all operands are read before it is set.
func (a *allocation) result(x []int, own map[int]bool, dst int) int {
	if dst >= 0 {
		return dst
	}
	for _, r := range x {
		if own[r] {
			return r
		}
	}
	return a.take()
}

// point computes the pointer of a stream in the work register, unless it is there.
func (a *allocation) point(s *stream) {
	sum := s.now()
	if there := strings.Join(sum, " "); a.pointer != there {
		a.pointer, a.pointed = there, s
		sumOf(a.m, sum, a.b.t.work)
	}
}

// near is like point, but keeps a pointer into the same buffer that is a constant number of bytes
// away. It returns that displacement.
func (a *allocation) near(s *stream) int {
	if t := a.pointed; t != nil && t.walk.Buf == s.walk.Buf && t.offset == s.offset && s.word == "" && t.word == "" {
		d := s.walk.Base.Add(t.walk.Base, shape.Int(-1))
		if n, ok := d.Const.Const(); ok && len(d.Terms) == 0 && s.offset.scale() > 0 {
			return int(n) * s.offset.scale()
		}
	}
	a.point(s)
	return 0
}
