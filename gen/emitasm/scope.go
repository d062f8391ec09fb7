package emitasm

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

// A scope turns statements of the plan into a body. A statement is there once
// for each group of rows (row) and each group of columns (column) that a pass
// of the vector loop takes; what is the same for several of them is computed once.
type scope struct {
	f       *function
	b       *body
	loop    *plan.Loop // nil outside the vector loops
	columns int        // groups of columns in the body
	masked  bool       // the last, incomplete pass
	row     int        // the present group
	column  int
	loads   map[string]val
	locals  map[copyOf]val
	order   []copyOf
	late    map[string]*laid // stores of sums over rows, at the end of the body or of its column
	lateIn  []string
	// stores of the present row of a vector loop
	rowStores []laid
	accs      map[copyOf]int
	accIn     []copyOf
}

// A copyOf is a scalar for one group of rows and columns.
type copyOf struct {
	local       *plan.Local
	row, column int
}

type laid struct {
	op string
	at *address
	v  val
}

func (f *function) newScope(lane *plan.Loop, columns int, masked bool) *scope {
	b := newBody(f.t)
	b.label = f.label
	return &scope{f: f, b: b, loop: lane, columns: columns, masked: masked, loads: map[string]val{},
		locals: map[copyOf]val{}, late: map[string]*laid{}, accs: map[copyOf]int{}}
}

// of names the copy of a scalar at the present groups.
func (s *scope) of(l *plan.Local) copyOf {
	d := s.f.depends[l]
	c := copyOf{local: l}
	if d.row {
		c.row = s.row
	}
	if d.column {
		c.column = s.column
	}
	return c
}

func (s *scope) statement(n plan.Node) {
	switch n := n.(type) {
	case *plan.Let:
		s.set(n.To, s.typed(n.Val, n.To.Elem))
	case *plan.Accumulate:
		s.accumulate(n)
	case *plan.Store:
		s.store(n)
	case *plan.Note:
	default:
		panic(fmt.Sprintf("emitasm: BUG: no instructions for %T", n))
	}
}

func (s *scope) set(l *plan.Local, v val) {
	c := s.of(l)
	if _, ok := s.locals[c]; !ok {
		s.order = append(s.order, c)
	}
	s.locals[c] = v
}

// accumulate prints a step of a sum or a maximum. In a vector loop what it adds to is
// an accumulator of its own for each group.
func (s *scope) accumulate(n *plan.Accumulate) {
	if s.loop == nil {
		if n.Max {
			s.set(n.To, runningMax[val](s.b, s.ref(n.To), s.real(n.Val)))
			return
		}
		s.set(n.To, s.real(n.Val))
		return
	}
	c := s.of(n.To)
	c.column = s.partial()
	number, ok := s.accs[c]
	if !ok {
		number, s.locals[c] = s.b.accumulator()
		s.accs[c], s.accIn = number, append(s.accIn, c)
	}
	old := s.locals[c]
	v := none
	if n.Max {
		v = runningMax[val](s.b, old, s.real(n.Val))
	} else {
		v = s.real(n.Val)
	}
	if s.masked && s.f.r.Across == plan.Columns {
		v = s.underMask(v, old)
	}
	s.locals[c] = v
	s.b.accOut[number] = v
}

// partial numbers the partial sums that the present column adds to: a column of
// columns adds to that of its half of 16.
func (s *scope) partial() int {
	if s.f.r.Across == plan.Columns {
		return s.column % (16 / s.f.t.width)
	}
	return s.column
}

// underMask is v in the lanes of the mask, else old.
func (s *scope) underMask(v, old val) val {
	if s.f.t.wide() {
		return s.b.do("MERGE", "", v, old)
	}
	mask := s.b.at(home{s.f.t.columnMask(s.column), false})
	return s.b.choose(mask, v, old)
}

// ref is the value of a scalar: set in this body, accumulated in it, or in its slot.
func (s *scope) ref(l *plan.Local) val {
	c := s.of(l)
	gathered := copyOf{c.local, c.row, s.partial()}
	if _, ok := s.accs[gathered]; ok {
		c = gathered
	}
	if v, ok := s.locals[c]; ok {
		return v
	}
	return s.b.at(s.f.home(l, s.row, s.loop != nil))
}

// home is where a scalar is stored between bodies.
func (f *function) home(l *plan.Local, row int, lane bool) home {
	if h, ok := f.fixed[l]; ok {
		return h
	}
	at, ok := f.scalar[l]
	if !ok {
		at = f.newSlot()
		f.scalar[l] = at
	}
	switch {
	case !f.depends[l].row:
		return home{f.t.slot(at.at), false}
	case f.r.Across == plan.Rows:
		return home{f.t.slot(at.at + 4*f.t.width*row), false}
	case lane:
		return home{f.t.slot(at.at + 4*row), true}
	}
	return home{f.t.slot(at.at), false}
}

// keep stores the scalars that a body outside the vector loops sets.
func (s *scope) keep() {
	for _, c := range s.order {
		if h := s.b.vals[s.locals[c]].home; h != nil && strings.HasSuffix(h.text, "<>(SB)") && s.f.branch == 0 {
			s.f.fixed[c.local] = *h // a constant until it is set again
			continue
		}
		delete(s.f.fixed, c.local)
		h := s.f.home(c.local, c.row, false)
		s.b.store("STORE", &address{direct: h.text, lanes: s.f.t.width}, s.locals[c])
	}
}

// typed evaluates an expression as a number or as a Boolean.
func (s *scope) typed(e plan.Expr, elem ir.Elem) val {
	if elem == ir.Bool {
		return s.truth(e)
	}
	return s.real(e)
}

// store prints a store. In a vector loop it waits for the end of its row: a load that
// follows a store whose address is 4096 bytes away, as between rows of buffers
// of like shape, would wait for it. A sum over rows waits for the end of the
// body, so that it is stored once. A load of the same entry gets what waits.
func (s *scope) store(n *plan.Store) {
	elem := n.To.Buf.Elem
	v := s.typed(n.Vals[0], elem)
	op, lanes := "STORE", s.f.t.width
	d := s.f.accessDepends(n.To, s.loop)
	switch {
	case elem == ir.Bool:
		op = "STOREBYTE"
	case s.loop == nil && !d.row:
		op, lanes = "STORELOW", 1
	case s.loop == nil && s.f.r.Across == plan.Columns:
		lanes = s.f.rows
	}
	key := s.key(n.To)
	s.forget(n.To.Buf.Base(), key)
	s.loads[key] = v
	at := s.address(n.To, lanes)
	switch {
	case s.loop == nil:
		s.b.store(op, at, v)
		return
	case d.row || !s.f.rowsInVector():
		s.rowStores = append(s.rowStores, laid{op, at, v})
		return
	}
	if s.late[key] == nil {
		s.lateIn = append(s.lateIn, key)
	}
	s.late[key] = &laid{op, at, v}
}

// forget drops what was loaded from a buffer under another key.
func (s *scope) forget(b *plan.Buffer, but string) {
	prefix := b.Name + "+"
	for key := range s.loads {
		if key != but && len(key) > len(prefix) && key[:len(prefix)] == prefix && s.loop == nil {
			delete(s.loads, key)
		}
	}
}

// endRow prints the stores of a row, of those to one place the last.
func (s *scope) endRow() {
	for i, l := range s.rowStores {
		if !slices.ContainsFunc(s.rowStores[i+1:], func(m laid) bool { return *m.at == *l.at }) {
			s.b.store(l.op, l.at, l.v)
		}
	}
	s.rowStores = nil
}

// finish prints the stores that wait.
func (s *scope) finish() {
	for _, key := range s.lateIn {
		l := s.late[key]
		s.b.store(l.op, l.at, l.v)
	}
	s.late, s.lateIn = map[string]*laid{}, nil
}

// key names the entries that an access touches at the present groups.
func (s *scope) key(a plan.Access) string {
	key := s.f.stream(a).key
	d := s.f.accessDepends(a, s.loop)
	if d.row {
		key += fmt.Sprintf(" row %d", s.row)
	}
	if d.column {
		key += fmt.Sprintf(" column %d", s.column)
	}
	return key
}
