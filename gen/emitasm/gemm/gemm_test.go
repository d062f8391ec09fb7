package gemm

import (
	"fmt"
	"strings"
	"testing"
)

// TestKernelsEndClean checks every RET: VZEROUPPER precedes it, and
// nothing follows the last one.
func TestKernelsEndClean(t *testing.T) {
	returns, last := 0, ""
	for n, line := range strings.Split(string(Assembly()), "\n") {
		op, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case op == "RET":
			returns++
			if last != "VZEROUPPER" {
				t.Errorf("line %d: RET after %q, want VZEROUPPER", n+1, last)
			}
		case op == "TEXT" && last != "RET" && last != "":
			t.Errorf("line %d: the function before ends in %q", n+1, last)
		}
		if strings.HasPrefix(line, "\t") || op == "TEXT" {
			last = op
		}
	}
	if last != "RET" {
		t.Errorf("the text ends in %q", last)
	}
	// Three ends of each variant, three kernels of packing a machine, and a
	// variant of the triangle for each number of its rows.
	if want := 3*(14+6) + 2*3 + 2*triangleRows; returns != want {
		t.Errorf("%d ends, want %d", returns, want)
	}
}

// TestRegisters holds the kernels to the registers that there are.
func TestRegisters(t *testing.T) {
	for _, m := range machines {
		have := 16
		if m.masked {
			have = 32
		}
		if 2*m.rows+4 > have {
			t.Errorf("%s: %d registers, there are %d", m.name, 2*m.rows+4, have)
		}
		var b text
		m.block(&b)
		m.packColumns(&b)
		m.packRows(&b)
		m.triangle(&b)
		for i := have; i < 40; i++ {
			for _, c := range []string{",", "\n"} {
				if strings.Contains(string(b.bytes()), fmt.Sprint(m.reg, i)+c) {
					t.Errorf("%s: register %d", m.name, i)
				}
			}
		}
	}
}
