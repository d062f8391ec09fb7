package emitasm

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/shape"
)

// A region becomes a function of one argument, a pointer to a struct of what
// its call knows (see Args). Outside the innermost loops, the lanes, everything
// lies in the frame: counters, where each stream stands at the present
// iteration of each loop, and the plan's scalars as vectors. A lane loads its
// pointers and the scalars that do not change into registers, and runs through
// whole vectors and then the rest under a mask.
//
//	DI  the arguments     R13  scalars of the plan, 64 bytes each or more
//	CX  entry of a lane   DX   its length          BX  offset into rows' own buffers
//	                                               whose pointers have no register
//	AX   free, R12 outside of lanes               SI, R8 to R12, R14, R15, DI  pointers of a lane
type function struct {
	t       *target
	r       *plan.Region
	turned  *rotated // of a loop over time, or nil
	jams    map[*plan.Loop]*jammed
	jam     int // rows of a nest that run at once
	abreast int // of them, at the present point
	args    *Args
	rows    int // rows that run at once; 1 without rows
	chains  int // sums over rows that run at once
	cost    int // loads of all passes
	passes  int // rows times groups of columns that they take
	name    string
	lines   []string
	ints    int // words of the frame
	slots   int // bytes of scalars
	scalar  map[*plan.Local]slot
	fixed   map[*plan.Local]home // scalars that are constants at the present point
	branch  int                  // how deep in statements that may be left out
	counter map[*plan.Var]string
	streams map[string]*stream
	order   []*stream
	labels  int
	depends map[*plan.Local]depends
	failed  string
	content content // which slots registers hold at the present point
	masks   int     // where AVX2 keeps the masks of columns, + 1
}

// depends says with what a scalar changes inside a lane.
type depends struct{ row, column bool }

// A slot is where a scalar lies between the lanes: one vector if it is the same
// in all rows; one number for each row, or a vector for each.
type slot struct{ at int }

// A stream is a walk over a buffer, with the frame's word of where it stands.
type stream struct {
	key    string
	walk   plan.Stream
	access plan.Access
	own    bool
	unit   string   // bytes of one step: a number, or a word of the frame
	slot   string   // where the lane's pointer lies
	cur    []string // where it stands, by depth
	words  []string // of the frame, for cur but the first
	reg    string   // register in the present lane, or ""
}

func (f *function) emit(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

// word is a new word of the frame.
func (f *function) word() string {
	f.ints++
	return fmt.Sprintf("%d(SP)", 8*(f.ints-1))
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
	}
	if f.rows > least || f.jam > 1 {
		return home{}, false
	}
	f.slots += 64
	return home{text: fmt.Sprintf("%d(R13)", f.slots-64)}, true
}

// rowLanes reports whether scalars of a row lie side by side in a vector.
func (f *function) rowLanes() bool { return f.rows > 1 }

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
	f.emit("VZEROUPPER")
	f.emit("RET")
}

// text is the function as Go assembly.
func (f *function) text() string {
	frame := 8*f.ints + f.slots + 64
	var b strings.Builder
	fmt.Fprintf(&b, "TEXT ·%s(SB), 0, $%d-8\n", f.name, frame)
	lines := unread(f.lines)
	if l := beyond(lines, f.slots); l != "" {
		panic("emitasm: BUG: " + f.name + " has no such slot: " + l)
	}
	for _, l := range lines {
		l = strings.ReplaceAll(l, "SLOTS", fmt.Sprint(8*f.ints+63))
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
		f.emit("MOVQ $%d, %s", n, reg)
		return
	}
	f.emit("MOVQ %s, %s", f.args.integer(plan.Fixed(p)), reg)
}

// prologue points the streams at the first entries.
func (f *function) prologue() {
	f.emit("MOVQ a+0(FP), DI")
	f.emit("LEAQ SLOTS(SP), R13")
	f.emit("ANDQ $~63, R13")
	if f.r.Across == plan.Rows {
		f.rowMask()
	}
	for _, l := range f.args.Scalars {
		f.scalar[l] = f.newSlot()
		f.emit("VBROADCASTSS %s, %s", f.args.scalar(l), f.t.reg(0))
		for v := range f.vectors() {
			f.emit("VMOVUPS %s, %d(R13)", f.t.reg(0), f.scalar[l].at+4*f.t.width*v)
		}
		if !f.t.wide() && f.r.Across != plan.Rows { // a slot of two vectors
			f.emit("VMOVUPS %s, %d(R13)", f.t.reg(0), f.scalar[l].at+32)
		}
	}
	for _, s := range f.order {
		f.open(s)
	}
}

// rowMask makes the mask of the last vector of rows.
func (f *function) rowMask() {
	f.emit("MOVQ %s, CX", f.args.tail())
	if f.t.wide() {
		f.emit("MOVQ $1, AX")
		f.emit("SHLQ CX, AX")
		f.emit("DECQ AX")
		f.emit("KMOVW AX, K2")
		return
	}
	f.slots += 64
	f.emit("LEAQ lanes<>+64(SB), AX")
	f.emit("SHLQ $2, CX")
	f.emit("SUBQ CX, AX")
	f.emit("VMOVUPS (AX), Y0")
	f.emit("VMOVUPS Y0, (R13)")
}

// maskSlot is where AVX2 finds a mask.
func maskSlot(at *address) string {
	if at.mask == "row" {
		return "0(R13)"
	}
	return fmt.Sprintf("%d(R13)", at.maskAt)
}

// open computes the first pointer of a stream.
func (f *function) open(s *stream) {
	s.slot = f.word()
	f.emit("MOVQ %s, AX", f.args.pointer(s.walk.Buf))
	s.unit = fmt.Sprint(elemBytes(s.walk.Buf))
	if s.own {
		s.unit = f.ownUnit(s)
	}
	if base := s.walk.Base; len(base.Terms) > 0 || !base.Const.IsZero() {
		f.index(base, "CX")
		f.scaleTo(s, "CX")
		f.emit("ADDQ CX, AX")
	}
	f.emit("MOVQ AX, %s", s.slot)
	s.cur = []string{s.slot}
}

// scaleTo turns a number of steps into bytes.
func (f *function) scaleTo(s *stream, reg string) {
	switch s.unit {
	case "1":
	case "4":
		f.emit("SHLQ $2, %s", reg)
	default:
		f.emit("IMULQ %s, %s", s.unit, reg)
	}
}

// ownUnit computes the bytes of one step of a row's own buffer but for the
// last index: a row of its entries, for all rows at once.
func (f *function) ownUnit(s *stream) string {
	dims := s.walk.Buf.Dims
	w := f.word()
	f.integer(dims[len(dims)-1], "CX")
	if f.r.Across == plan.Columns {
		f.emit("ADDQ $15, CX")
		f.emit("SHRQ $4, CX")
		f.emit("IMULQ $%d, CX", 64*f.rows)
	} else {
		f.emit("IMULQ $%d, CX", 4*f.rows)
	}
	f.emit("MOVQ CX, %s", w)
	return w
}

// index emits code that puts an index into a register: what the call knows,
// and variables of the region times their coefficients. It uses AX.
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
		f.emit("MOVQ $%d, %s", n, reg)
	} else {
		f.emit("MOVQ %s, %s", f.args.integer(rest), reg)
	}
	for _, t := range inner {
		f.times(t.Var, t.Coef, reg, "+")
	}
}

// times adds a variable times a size to a register, by way of R12.
func (f *function) times(v *plan.Var, c shape.Poly, reg, sign string) {
	switch n, ok := c.Const(); {
	case ok && n == 1:
		f.emit("ADDQ %s, %s", f.counter[v], reg)
		return
	case ok && n == -1:
		f.emit("SUBQ %s, %s", f.counter[v], reg)
		return
	case ok:
		f.emit("MOVQ $%d, R12", n)
	default:
		f.emit("MOVQ %s, R12", f.args.integer(plan.Fixed(c)))
	}
	f.emit("IMULQ %s, R12", f.counter[v])
	f.emit("ADDQ R12, %s", reg)
}
