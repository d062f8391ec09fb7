package kern_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/kern"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A form is how a matrix is laid out in its slice.
type form int

const (
	byRows    form = iota
	byRowsGap      // with something between rows
	byColumns
	byColumnsGap
	scattered // no entries are adjacent
	operandForms
	repeated = operandForms // every row is the same one: operands only
)

// guard is how much of a buffer is on either side of a matrix.
const guard = 67

type matrix struct {
	buf      []float32 // with guards
	row, col int
	bare     bool // without guards
}

func (x matrix) entries() []float32 {
	if x.bare {
		return x.buf
	}
	return x.buf[guard : len(x.buf)-guard]
}

func (x matrix) at(i, j int) *float32 { return &x.entries()[i*x.row+j*x.col] }

func newMatrix(rows, cols int, f form, draw func() float32) matrix {
	var x matrix
	switch f {
	case byRows:
		x.row, x.col = cols, 1
	case byRowsGap:
		x.row, x.col = cols+5, 1
	case byColumns:
		x.row, x.col = 1, rows
	case byColumnsGap:
		x.row, x.col = 1, rows+3
	case scattered:
		x.row, x.col = 2*cols+1, 2
	default:
		x.row, x.col = 0, 1
	}
	x.buf = make([]float32, 2*guard+max(0, (rows-1)*x.row+(cols-1)*x.col+1))
	for i := range x.buf {
		x.buf[i] = draw()
	}
	return x
}

func (x matrix) clone() matrix {
	x.buf = append([]float32(nil), x.buf...)
	return x
}

// A product is one call.
type product struct {
	m, n, depth int
	coef        float32
	add         bool
	c, a, b     matrix
}

func (p product) String() string {
	return fmt.Sprintf("%dx%dx%d coef %v add %v C %d,%d A %d,%d B %d,%d", p.m, p.depth, p.n, p.coef, p.add,
		p.c.row, p.c.col, p.a.row, p.a.col, p.b.row, p.b.col)
}

func (p product) run(c matrix) {
	kern.GemmFMA(p.m, p.n, p.depth, p.coef, p.add, c.entries(), c.row, c.col,
		p.a.entries(), p.a.row, p.a.col, p.b.entries(), p.b.row, p.b.col)
}

// want is what the doc says, plainly.
func (p product) want() matrix {
	c := p.c.clone()
	for i := range p.m {
		for j := range p.n {
			var s float32
			for k := range p.depth {
				s = num.FMA32(*p.a.at(i, k), *p.b.at(k, j), s)
			}
			switch at := c.at(i, j); {
			case p.depth == 0 && !p.add:
				*at = 0
			case !p.add:
				*at = s * p.coef
			case p.depth > 0:
				*at = num.FMA32(p.coef, s, *at)
			}
		}
	}
	return c
}

// check runs a product at every level that there is and compares whole
// buffers, what must not be written included.
func (p product) check(t *testing.T) {
	t.Helper()
	want, start := p.want(), p.c.clone()
	defer copy(p.c.buf, start.buf)
	for _, l := range cpu.Targets()[1:] {
		restore, err := cpu.Force(l)
		if err != nil {
			continue
		}
		copy(p.c.buf, start.buf)
		p.run(p.c)
		restore()
		for i, x := range p.c.buf {
			if y := want.buf[i]; math.Float32bits(x) != math.Float32bits(y) && !(x != x && y != y) {
				t.Fatalf("%v at level %v: entry %d behind C's first is %x, want %x", p, l, i-guard, x, y)
			}
		}
	}
}

var gemmSizes = []int{1, 7, 13, 14, 15, 31, 33, 48, 64, 96, 257}

// draws returns a source of numbers, ordinary ones or every kind.
func draws(r *rand.Rand, wild bool) func() float32 {
	special := []float32{0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-140, 0x1p-126, 0x1.fffffep127, 0x1p-75,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	return func() float32 {
		if wild && r.IntN(20) == 0 {
			return special[r.IntN(len(special))]
		}
		return r.Float32()*2 - 1
	}
}

// newProduct has the forms and the rest from a number.
func newProduct(m, n, depth, variant int, draw func() float32) product {
	pick := func(n int) (i int) { i, variant = variant%n, variant/n; return i }
	p := product{m: m, n: n, depth: depth, add: pick(2) == 1, coef: []float32{1, -0.3, 2, 0}[pick(4)]}
	p.c = newMatrix(m, n, form(pick(int(operandForms))), draw)
	p.a = newMatrix(m, depth, form(pick(int(operandForms)+1)), draw)
	p.b = newMatrix(depth, n, form(pick(int(operandForms)+1)), draw)
	return p
}

const variants = 2 * 4 * 5 * 6 * 6
