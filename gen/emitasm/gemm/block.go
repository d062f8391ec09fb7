package gemm

import "fmt"

// A machine is a set of instructions.
type machine struct {
	name   string // ends the names of its kernels
	reg    string // the letter of its registers
	width  int    // float32 in a vector
	rows   int    // of the largest block
	masked bool   // has mask registers
}

// Two vectors to a row: 28 sums, two vectors of B and two broadcasts fill 32
// registers; 12 sums and the same fill 16.
var machines = []machine{
	{name: "512", reg: "Z", width: 16, rows: 14, masked: true},
	{name: "256", reg: "Y", width: 8, rows: 6},
}

// half is the number of rows that one base pointer reaches.
const half = 7

func (m machine) v(i int) string { return fmt.Sprint(m.reg, i) }

// sum is the register of a row's sums in one of the two vectors.
func (m machine) sum(r, v int) string { return m.v(2*r + v) }

// spare are the four registers after the sums.
func (m machine) spare(i int) string { return m.v(2*m.rows + i) }

func (m machine) bytes() int { return 4 * m.width }

// block prints the micro-kernel with a variant for each number of rows.
func (m machine) block(t *text) {
	name := "gemmBlock" + m.name
	f := func(s string) string { return field("gemmBlock", s) }
	t.function(name, fmt.Sprintf(`
		It adds p.depth steps to a block of p.rows rows, at most %d, and two
		vectors of %d.`[1:], m.rows, m.width))
	t.op("MOVQ", f("a"), "SI")
	t.multiples(f("aRow"), 0)
	t.op("LEAQ", at(0, "R9", "R8", 4), "R11")
	t.op("ADDQ", "SI", "R11")
	t.op("MOVQ", f("aCol"), "R12")
	t.op("MOVQ", f("b"), "BX")
	t.op("MOVQ", f("bRow"), "R13")
	t.op("MOVQ", f("depth"), "CX")
	t.op("MOVQ", f("mode"), "AX")
	t.op("MOVQ", f("rows"), "DX")
	for r := m.rows; r > 1; r-- {
		t.op("CMPQ", "DX", imm(r))
		t.op("JEQ", fmt.Sprint("rows", r))
	}
	for r := 1; r <= m.rows; r++ {
		m.variant(t, r)
	}
}

// variant prints the kernel of one number of rows: sums from zero or from
// memory, the loop over the steps, and where the sums go.
func (m machine) variant(t *text, rows int) {
	label := func(s string) string { return fmt.Sprint(s, rows) }
	t.line("")
	t.label(label("rows"))
	t.op("TESTQ", modeBegun, "AX")
	t.op("JEQ", label("zero"))
	t.op("MOVQ", field("gemmBlock", "sums"), "DX")
	m.sums(rows, func(at, reg string) { t.op("VMOVUPS", at, reg) })
	t.op("JMP", label("steps"))
	t.label(label("zero"))
	for i := range 2 * rows {
		t.op("VXORPS", m.v(i), m.v(i), m.v(i))
	}
	t.label(label("steps"))
	t.label(label("step"))
	m.step(t, rows)
	t.op("DECQ", "CX")
	t.op("JNE", label("step"))
	t.op("TESTQ", modeUnfinished, "AX")
	t.op("JEQ", label("finish"))
	t.op("MOVQ", field("gemmBlock", "sums"), "DX")
	m.sums(rows, func(at, reg string) { t.op("VMOVUPS", reg, at) })
	t.ret()
	m.finish(t, rows, label)
}

// The modes of a block are constants of the Go around it.
const (
	modeBegun      = "$const_gemmBegun"
	modeUnfinished = "$const_gemmUnfinished"
	modeAdd        = "$const_gemmAdd"
)

// sums visits the block's sums in memory, where rows follow each other.
func (m machine) sums(rows int, visit func(at, reg string)) {
	for i := range 2 * rows {
		visit(at(i*m.bytes(), "DX"), m.v(i))
	}
}

// step prints one step of all sums of a block.
func (m machine) step(t *text, rows int) {
	b0, b1 := m.spare(0), m.spare(1)
	t.op("VMOVUPS", at(0, "BX"), b0)
	t.op("VMOVUPS", at(m.bytes(), "BX"), b1)
	for r := range rows {
		base := "SI"
		if r >= half {
			base = "R11"
		}
		a := m.spare(2 + r%2)
		t.op("VBROADCASTSS", row(base, r%half), a)
		t.op("VFMADD231PS", b0, a, m.sum(r, 0))
		t.op("VFMADD231PS", b1, a, m.sum(r, 1))
	}
	t.op("ADDQ", "R12", "SI")
	if rows > half {
		t.op("ADDQ", "R12", "R11")
	}
	t.op("ADDQ", "R13", "BX")
}

// finish multiplies the sums by the coefficient and writes them to C, or adds
// them with one rounding. What is beyond the columns of C is neither read nor
// written.
func (m machine) finish(t *text, rows int, label func(string) string) {
	f := func(s string) string { return field("gemmBlock", s) }
	coef, old := m.spare(0), m.spare(1)
	t.label(label("finish"))
	m.masks(t, f("mask"))
	t.op("VBROADCASTSS", f("coef"), coef)
	t.op("MOVQ", f("c"), "DX")
	t.op("MOVQ", f("cRow"), "BX")
	t.op("TESTQ", modeAdd, "AX")
	t.op("JNE", label("add"))
	for r := range rows {
		for v := range 2 {
			t.op("VMULPS", m.sum(r, v), coef, m.sum(r, v))
			m.store(t, v, m.sum(r, v), at(v*m.bytes(), "DX"))
		}
		t.op("ADDQ", "BX", "DX")
	}
	t.ret()
	t.label(label("add"))
	for r := range rows {
		for v := range 2 {
			m.load(t, v, at(v*m.bytes(), "DX"), old)
			t.op("VFMADD213PS", old, coef, m.sum(r, v))
			m.store(t, v, m.sum(r, v), at(v*m.bytes(), "DX"))
		}
		t.op("ADDQ", "BX", "DX")
	}
	t.ret()
}

// masks loads the masks of the two vectors.
func (m machine) masks(t *text, from string) {
	t.op("MOVQ", from, "DX")
	for v := range 2 {
		t.op("VMOVUPS", at(v*m.bytes(), "DX"), m.spare(2+v))
		if m.masked {
			t.op("VPMOVD2M", m.spare(2+v), m.mask(v))
		}
	}
}

// mask is the register that masks a vector.
func (m machine) mask(v int) string {
	if m.masked {
		return fmt.Sprint("K", 1+v)
	}
	return m.spare(2 + v)
}

// load reads what the mask lets through, and zeros.
func (m machine) load(t *text, v int, from, to string) {
	if m.masked {
		t.op("VMOVUPS.Z", from, m.mask(v), to)
	} else {
		t.op("VMASKMOVPS", from, m.mask(v), to)
	}
}

func (m machine) store(t *text, v int, from, to string) {
	if m.masked {
		t.op("VMOVUPS", from, m.mask(v), to)
	} else {
		t.op("VMASKMOVPS", from, m.mask(v), to)
	}
}
