package emitasm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A region becomes a function of one argument, a pointer to a struct of what
// its call knows (see Args). Outside the innermost loops, which run on vectors, everything
// is in the frame: counters, offsets of the streams at the present
// iteration of each loop, and the plan's scalars as vectors. A vector loop loads its
// pointers and the scalars that do not change into registers, and runs through
// whole vectors and then the rest under a mask.
// A target says which registers are for what.
type function struct {
	*code
	m            machine
	t            *target
	r            *plan.Region
	pipelined    *pipelinedLoop // of a loop over time, or nil
	jammed       map[*plan.Loop]*jammedLoop
	unroll       int // rows of a nest that run at once
	unrolled     int // of them, at the present point
	args         *Args
	rows         int     // rows that run at once; 1 without rows
	accumulators int     // sums over rows that run at once
	loads        float64 // from memory, for each row and group of columns, of the loops that do most of the work
	inStrip      bool    // pointers are those of the present columns and rows, see registerSums
	once         bool    // the present statements are a prologue, an epilogue or a remainder
	suffix       string  // of its name, after that of the region
	ints         int     // words of the frame
	slots        int     // bytes of scalars
	scalar       map[*plan.Local]slot
	fixed        map[*plan.Local]home // scalars that are constants at the present point
	branch       int                  // how deep in statements that may be left out
	counter      map[*plan.Var]string
	streams      map[string]*stream
	order        []*stream
	offsets      []*offset
	units        map[string]string // words of the frame: bytes of a row of the rows' own buffers, by its length
	labels       int
	depends      map[*plan.Local]depends
	failed       string
	cache        registerCache   // which slots registers hold at the present point
	adjacents    []*adjacentSums // of the last vector loop
}

// depends says with what a scalar changes inside a vector loop.
type depends struct{ row, column bool }

// A slot is where a scalar is stored between the vector loops: one vector if it is the same
// in all rows; one number for each row, or a vector for each.
type slot struct{ at int }

// A stream is a walk over a buffer: a pointer to its first entry and an offset, which
// all streams of the same strides share.
type stream struct {
	key    string
	walk   plan.Stream
	access plan.Access
	own    bool
	args   *Args
	base   string // operand: bytes from the start of the buffer to the first entry, "" until it is needed
	offset *offset
	reg    string // register in the present vector loop, or ""
	word   string // of the frame: the pointer in a vector loop that has no register for it, or ""
}

// An offset is how many bytes streams have moved on at the present iteration of the
// loops around.
type offset struct {
	key   string
	walk  plan.Stream
	unit  string   // bytes of one step: a number, or a word of the frame
	cur   []string // words of the frame, one for each loop that moves the streams
	words []string // all that there are for cur
}

// now is the word of the offset at the present statement, "" for zero.
func (o *offset) now() string {
	if len(o.cur) == 0 {
		return ""
	}
	return o.cur[len(o.cur)-1]
}

// scale is the unit where it is a number, else 0.
func (o *offset) scale() int {
	n, _ := strconv.Atoi(o.unit)
	return n
}

// push enters a loop that moves the streams and returns its word.
func (o *offset) push(f *function) string {
	if len(o.words) == len(o.cur) {
		o.words = append(o.words, f.word())
	}
	o.cur = o.words[:len(o.cur)+1]
	return o.now()
}

// word is a new word of the frame.
func (f *function) word() string {
	f.ints++
	return f.t.word(f.ints - 1)
}

func (f *function) label(word string) string {
	f.labels++
	return fmt.Sprintf("%s%d", word, f.labels)
}

// slotBytes is the size of a scalar's slot.
func (f *function) slotBytes() int {
	if f.r.Across == plan.Rows {
		return 4 * f.rows
	}
	return 64
}

func (f *function) newSlot() slot {
	f.slots += f.slotBytes()
	return slot{f.slots - f.slotBytes()}
}

// spillSlot is a slot for a value that finds no register; only the form with the
// fewest rows has them.
func (f *function) spillSlot() (home, bool) {
	least := 1
	if f.r.Across == plan.Rows {
		least = f.t.width
	} else if !f.t.wide() {
		least = 2
	}
	if f.rows > least || f.unroll > 1 {
		return home{}, false
	}
	f.slots += 64
	return home{text: f.t.slot(f.slots - 64)}, true
}

// rowsInVector reports whether scalars of several rows are in the lanes of a vector.
func (f *function) rowsInVector() bool { return f.rows > 1 }

// vectors is the number of vectors that hold the rows.
func (f *function) vectors() int {
	if f.r.Across == plan.Rows {
		return f.rows / f.t.width
	}
	return 1
}

// compile prints the region's function.
func (f *function) compile() {
	f.analyse()
	f.prologue()
	f.nodes(f.r.Body)
	f.m.ret()
}

// name is the name of the function, once its region has one.
func (f *function) name() string { return strings.ToLower(f.args.Func) + f.suffix }

// text is the function as Go assembly, from the size of its frame on.
func (f *function) text() string {
	frame, slots := f.m.layout(f.ints, f.slots)
	var b strings.Builder
	fmt.Fprintf(&b, "$%d-8\n", frame)
	lines := dropDeadStores(f.t, f.lines)
	if l := outOfFrame(f.t, lines, f.slots); l != "" {
		panic("emitasm: BUG: " + f.name() + " has no such slot: " + l)
	}
	for _, l := range lines {
		l = strings.NewReplacer("(ARGS)", "("+f.t.args+")", "SLOTS", fmt.Sprint(slots)).Replace(f.args.resolve(l))
		if !strings.HasSuffix(l, ":") {
			l = "\t" + l
		}
		b.WriteString(l + "\n")
	}
	return b.String()
}

// integer emits code that puts a size into a register.
func (f *function) integer(p shape.Poly, reg string) {
	if n, ok := p.Const(); ok {
		f.m.move(imm(int(n)), reg)
		return
	}
	f.m.move(f.args.integer(plan.Fixed(p)), reg)
}

// prologue points the streams at the first entries.
func (f *function) prologue() {
	f.m.arguments()
	f.m.frame()
	if f.r.Across == plan.Rows {
		f.m.rowMask(f)
	}
	for _, l := range f.args.Scalars {
		f.scalar[l] = f.newSlot()
		f.m.load(home{f.args.scalar(l), true}, 0, f.t.width)
		for v := range f.vectors() {
			f.m.save(0, f.t.slot(f.scalar[l].at+4*f.t.width*v))
		}
		if !f.t.wide() && f.r.Across != plan.Rows { // a slot of two vectors
			f.m.save(0, f.t.slot(f.scalar[l].at+32))
		}
	}
	for _, s := range f.order {
		f.open(s)
	}
}

// open finds the offset of a stream, and where it begins if the call does not know that.
func (f *function) open(s *stream) {
	unit := strconv.Itoa(elemBytes(s.walk.Buf))
	if s.own {
		unit = f.ownUnit(s)
	}
	s.offset, s.args = f.offsetOf(s.walk, unit), f.args
	if s.begins() || s.offset.scale() > 0 {
		return
	}
	f.index(s.walk.Base, f.t.spare)
	f.m.mul(unit, f.t.spare)
	s.base = f.word()
	f.m.move(f.t.spare, s.base)
}

// begins reports whether the first entry of a stream is that of its buffer.
func (s *stream) begins() bool { return s.walk.Base.Equal(plan.Index{}) }

// first are the operands whose sum is the pointer to the first entry.
func (s *stream) first() []string {
	buffer := s.args.pointer(s.walk.Buf)
	switch {
	case s.begins():
		return []string{buffer}
	case s.base == "":
		bytes := plan.Index{}.Add(s.walk.Base, shape.Int(int64(s.offset.scale())))
		if n, ok := bytes.Const.Const(); ok && len(bytes.Terms) == 0 {
			s.base = imm(int(n))
		} else {
			s.base = s.args.integer(bytes)
		}
	}
	return []string{buffer, s.base}
}

// offsetOf finds or makes the offset of a walk.
func (f *function) offsetOf(w plan.Stream, unit string) *offset {
	key := unit
	for i, v := range w.Vars {
		key += fmt.Sprintf(" %s*%p", w.Stride[i], v)
	}
	for _, o := range f.offsets {
		if o.key == key {
			return o
		}
	}
	o := &offset{key: key, walk: w, unit: unit}
	f.offsets = append(f.offsets, o)
	return o
}

// now are the operands whose sum is the pointer of a stream at the present iteration.
func (s *stream) now() []string {
	switch o := s.offset.now(); {
	case s.word != "":
		return []string{s.word}
	case o != "":
		return append(s.first(), o)
	}
	return s.first()
}

// point computes the pointer of a stream in a register.
func (f *function) point(s *stream, reg string) {
	sumOf(f.m, s.now(), reg)
}

// ownUnit computes the bytes of one step of a row's own buffer but for the
// last index: a row of its entries, for all rows at once.
func (f *function) ownUnit(s *stream) string {
	dims := s.walk.Buf.Dims
	length := dims[len(dims)-1]
	if w, ok := f.units[length.String()]; ok {
		return w
	}
	w := f.word()
	f.units[length.String()] = w
	f.integer(length, f.t.spare)
	if f.r.Across == plan.Columns {
		f.m.add("$15", f.t.spare)
		f.m.shiftRight(4, f.t.spare)
		f.m.mul(imm(64*f.rows), f.t.spare)
	} else {
		f.m.mul(imm(4*f.rows), f.t.spare)
	}
	f.m.move(f.t.spare, w)
	return w
}

// index emits code that puts an index into a register: what is known at the call,
// and variables of the region times their coefficients.
func (f *function) index(x plan.Index, reg string) {
	rest := plan.Index{Const: x.Const}
	var inner []plan.Term
	for _, t := range x.Terms {
		if f.counter[t.Var] != "" {
			inner = append(inner, t)
		} else {
			rest.Terms = append(rest.Terms, t)
		}
	}
	if n, ok := rest.Const.Const(); ok && len(rest.Terms) == 0 {
		f.m.move(imm(int(n)), reg)
	} else {
		f.m.move(f.args.integer(rest), reg)
	}
	for _, t := range inner {
		f.times(t.Var, t.Coef, reg)
	}
}

// times adds a variable times a size to a register, by way of the temporary one.
func (f *function) times(v *plan.Var, c shape.Poly, reg string) {
	switch n, ok := c.Const(); {
	case ok && n == 1:
		f.m.add(f.counter[v], reg)
		return
	case ok && n == -1:
		f.m.sub(f.counter[v], reg)
		return
	case ok:
		f.m.move(imm(int(n)), f.t.temp)
	default:
		f.m.move(f.args.integer(plan.Fixed(c)), f.t.temp)
	}
	f.m.mul(f.counter[v], f.t.temp)
	f.m.add(f.t.temp, reg)
}
