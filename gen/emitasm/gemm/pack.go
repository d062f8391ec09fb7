package gemm

import "fmt"

// packColumns prints the packing of columns of B that are contiguous, as
// in X·Wᵀ: a transposition. Four entries of each column are read at once, those
// of columns r, r+4, … into the quarters of one vector; what remains is a
// transposition of 4 by 4 in each quarter.
func (m machine) packColumns(t *text) {
	f := func(s string) string { return field("gemmPack", s) }
	t.function("gemmPackColumns"+m.name, fmt.Sprintf(`
		It packs p.depth entries, a multiple of 4, of each of %d columns that are
		p.from bytes apart.`[1:], m.width))
	t.op("MOVQ", f("src"), "SI")
	t.multiples(f("from"), 7)
	if m.width > 8 {
		t.op("LEAQ", at(0, "SI", "R8", 8), "R11")
	}
	t.op("MOVQ", f("dst"), "BX")
	t.op("MOVQ", f("depth"), "CX")
	t.label("quad")
	for r := range 4 {
		t.op("VMOVUPS", row("SI", r), fmt.Sprint("X", r))
		for q := 1; q < m.width/4; q++ {
			base := "SI"
			if q >= 2 {
				base = "R11"
			}
			t.op(m.insert(), imm(q), row(base, (4*q+r)%8), m.v(r), m.v(r))
		}
	}
	for i, pair := range [][2]int{{0, 1}, {2, 3}} {
		t.op("VUNPCKLPS", m.v(pair[1]), m.v(pair[0]), m.v(4+i))
		t.op("VUNPCKHPS", m.v(pair[1]), m.v(pair[0]), m.v(6+i))
	}
	for k := range 4 {
		from := 4 + k/2*2
		t.op([]string{"VUNPCKLPD", "VUNPCKHPD"}[k%2], m.v(from+1), m.v(from), m.v(k))
		t.op("VMOVUPS", m.v(k), at(k*2*m.bytes(), "BX"))
	}
	t.op("ADDQ", imm(16), "SI")
	if m.width > 8 {
		t.op("ADDQ", imm(16), "R11")
	}
	t.op("ADDQ", imm(4*2*m.bytes()), "BX")
	t.op("SUBQ", imm(4), "CX")
	t.op("JNE", "quad")
	t.ret()
}

// insert is the instruction that reads a quarter of a vector.
func (m machine) insert() string {
	if m.masked {
		return "VINSERTF32X4"
	}
	return "VINSERTF128"
}

// packRows prints the packing of rows that are contiguous: a copy, with
// zeros beyond the entries that there are. Rows of B are two vectors, and one
// is what a block takes from columns of A.
func (m machine) packRows(t *text) {
	for _, vectors := range []int{2, 1} {
		f := func(s string) string { return field("gemmPack", s) }
		name := map[int]string{1: "gemmPackRow", 2: "gemmPackRows"}[vectors]
		t.function(name+m.name, fmt.Sprintf(`
			It packs p.depth rows that are p.from bytes apart, up to %d entries of each.`[1:], vectors*m.width))
		m.masks(t, f("mask"))
		t.op("MOVQ", f("src"), "SI")
		t.op("MOVQ", f("from"), "R8")
		t.op("MOVQ", f("dst"), "BX")
		t.op("MOVQ", f("depth"), "CX")
		t.label("row")
		for v := range vectors {
			m.load(t, v, at(v*m.bytes(), "SI"), m.v(v))
		}
		for v := range vectors {
			t.op("VMOVUPS", m.v(v), at(v*m.bytes(), "BX"))
		}
		t.op("ADDQ", "R8", "SI")
		t.op("ADDQ", imm(vectors*m.bytes()), "BX")
		t.op("DECQ", "CX")
		t.op("JNE", "row")
		t.ret()
	}
}
