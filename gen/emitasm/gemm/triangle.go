package gemm

import "fmt"

// A triangular solve has blocks of four rows, each of four vectors of AVX-512
// or two of AVX2: 16 chains, four vectors of a row that is done and two
// broadcasts are 22 registers; 8, 2, 2 and two masks are 14.
const triangleRows = 4

// triangleVectors is the number of vectors of a row of a block.
func (m machine) triangleVectors() int {
	if m.masked {
		return 4
	}
	return 2
}

// triangle prints the micro-kernel with a variant for each number of rows.
func (m machine) triangle(t *text) {
	name := "triangleBlock" + m.name
	f := func(s string) string { return field("triangleBlock", s) }
	t.function(name, fmt.Sprintf(`
		It takes from p.rows rows, at most %d, of %d vectors what p.before rows
		that are done take away, and then what the rows take from each other.`[1:], triangleRows, m.triangleVectors()))
	t.op("MOVQ", f("mask"), "DX")
	for v := range m.triangleVectors() {
		if m.masked {
			t.op("VMOVUPS", at(v*m.bytes(), "DX"), m.v(0))
			t.op("VPMOVD2M", m.v(0), m.panelMask(v))
		} else {
			t.op("VMOVUPS", at(v*m.bytes(), "DX"), m.panelMask(v))
		}
	}
	t.op("MOVQ", f("a"), "SI")
	t.multiples(f("aRow"), 0)
	t.op("MOVQ", f("aCol"), "R12")
	t.op("MOVQ", f("done"), "BX")
	t.op("MOVQ", f("x"), "DX")
	t.op("MOVQ", f("xRow"), "R13")
	t.op("MOVQ", f("before"), "CX")
	t.op("MOVQ", f("rows"), "AX")
	for r := triangleRows; r > 1; r-- {
		t.op("CMPQ", "AX", imm(r))
		t.op("JEQ", fmt.Sprint("rows", r))
	}
	for r := 1; r <= triangleRows; r++ {
		m.triangleVariant(t, r)
	}
}

// triangleVariant prints the kernel of one number of rows.
func (m machine) triangleVariant(t *text, rows int) {
	w := m.triangleVectors()
	chain := func(r, v int) string { return m.v(w*r + v) }
	done := func(v int) string { return m.v(w*triangleRows + v) }
	entry := func(r int) string { return m.v(w*triangleRows + w + r%2) }
	label := func(s string) string { return fmt.Sprint(s, rows) }
	// take subtracts an entry of row r of A times a row.
	take := func(r int, from func(v int) string) {
		t.op("VBROADCASTSS", row("SI", r), entry(r))
		for v := range w {
			t.op("VFNMADD231PS", from(v), entry(r), chain(r, v))
		}
	}
	t.line("")
	t.label(label("rows"))
	t.op("MOVQ", "DX", "AX")
	for r := range rows {
		for v := range w {
			m.panelLoad(t, v, at(v*m.bytes(), "AX"), chain(r, v))
		}
		t.op("ADDQ", "R13", "AX")
	}
	t.op("TESTQ", "CX", "CX")
	t.op("JEQ", label("among"))
	t.label(label("before"))
	for v := range w {
		m.panelLoad(t, v, at(v*m.bytes(), "BX"), done(v))
	}
	for r := range rows {
		take(r, done)
	}
	t.op("ADDQ", "R12", "SI")
	t.op("ADDQ", "R13", "BX")
	t.op("DECQ", "CX")
	t.op("JNE", label("before"))
	t.label(label("among"))
	for s := range rows - 1 {
		for r := s + 1; r < rows; r++ {
			take(r, func(v int) string { return chain(s, v) })
		}
		t.op("ADDQ", "R12", "SI")
	}
	for r := range rows {
		for v := range w {
			m.panelStore(t, v, chain(r, v), at(v*m.bytes(), "DX"))
		}
		t.op("ADDQ", "R13", "DX")
	}
	t.ret()
}

// panelMask is the register that masks a vector of a panel.
func (m machine) panelMask(v int) string {
	if m.masked {
		return fmt.Sprint("K", 1+v)
	}
	return m.v(14 + v)
}

// panelLoad reads what the mask lets through, and zeros.
func (m machine) panelLoad(t *text, v int, from, to string) {
	if m.masked {
		t.op("VMOVUPS.Z", from, m.panelMask(v), to)
	} else {
		t.op("VMASKMOVPS", from, m.panelMask(v), to)
	}
}

func (m machine) panelStore(t *text, v int, from, to string) {
	if m.masked {
		t.op("VMOVUPS", from, m.panelMask(v), to)
	} else {
		t.op("VMASKMOVPS", from, m.panelMask(v), to)
	}
}
