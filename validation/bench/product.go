package main

import (
	"math/rand/v2"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/kern"
	"github.com/nl-hecate/hecate/runtime/num"
)

// A product is one of the three of a projection Y = X·Wᵀ with X [T, d], W [d, d]
// and dY [T, d]: the forward, and the adjoints of X and W. Its number is the form
// of validation/bench/c/blas.c.
type product[F num.Float] struct {
	name string
	rows func(T, d int) int // of the result, which has d columns
	run  func(m *matrices[F], out []F)
}

func products[F num.Float]() []product[F] {
	tokens := func(T, _ int) int { return T }
	width := func(_, d int) int { return d }
	return []product[F]{
		{"X·Wᵀ", tokens, func(m *matrices[F], out []F) {
			gemm(m.T, m.d, m.d, out, m.x, m.d, 1, m.w, 1, m.d)
		}},
		{"dY·W", tokens, func(m *matrices[F], out []F) {
			gemm(m.T, m.d, m.d, out, m.dy, m.d, 1, m.w, m.d, 1)
		}},
		{"dYᵀ·X", width, func(m *matrices[F], out []F) {
			gemm(m.d, m.d, m.T, out, m.dy, 1, m.d, m.x, m.d, 1)
		}},
	}
}

// gemm is the emitted product at the active level; c has rows of n.
func gemm[F num.Float](m, n, depth int, c, a []F, aRow, aCol int, b []F, bRow, bCol int) {
	if single, ok := any(c).([]float32); ok && cpu.Active() >= cpu.FMA {
		kern.GemmFMA(m, n, depth, 1, false, single, n, 1, any(a).([]float32), aRow, aCol, any(b).([]float32), bRow, bCol)
		return
	}
	kern.Gemm(m, n, depth, 1, false, c, n, 1, a, aRow, aCol, b, bRow, bCol)
}

const openBLAS = "OpenBLAS"

// matrices are the operands at one width.
type matrices[F num.Float] struct {
	T, d     int
	x, w, dy []F
}

func newMatrices(d int, seed uint64) *matrices[float32] {
	random := rand.New(rand.NewPCG(seed, uint64(d)))
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(2*random.Float64() - 1)
		}
		return x
	}
	return &matrices[float32]{tokens, d, draw(tokens * d), draw(d * d), draw(tokens * d)}
}

// wide is the same in float64.
func (m *matrices[F]) wide() *matrices[float64] {
	of := func(x []F) []float64 {
		out := make([]float64, len(x))
		for i, v := range x {
			out[i] = float64(v)
		}
		return out
	}
	return &matrices[float64]{m.T, m.d, of(m.x), of(m.w), of(m.dy)}
}

// A projection is the three products at one width, by the emitted code at every
// level and by OpenBLAS.
type projection struct {
	*matrices[float32]
	out    [][]float32 // by product
	levels []level
	c      *cc[float32] // nil without OpenBLAS
	number int          // in C
}

// newProjection computes every product once and compares it.
func newProjection(d int, c *cc[float32], seed uint64, k *checks) (*projection, error) {
	p := &projection{matrices: newMatrices(d, seed)}
	if c != nil && c.blas != "" {
		p.c = c
		var err error
		if p.number, err = c.loadMatrices(p.T, d, p.x, p.w, p.dy); err != nil {
			return nil, err
		}
	}
	oracle, wide := products[float64](), p.wide()
	all, _ := levels(productLevels)
	for form, prod := range products[float32]() {
		out, want := make([]float32, prod.rows(p.T, d)*d), make([]float64, prod.rows(p.T, d)*d)
		p.out = append(p.out, out)
		oracle[form].run(wide, want)
		for _, l := range all {
			if !l.timed(d) {
				continue
			}
			for _, threads := range threadCounts() {
				if err := p.emitted(l, form, threads, want, k); err != nil {
					return nil, err
				}
			}
			if form == 0 {
				p.levels = append(p.levels, l)
			}
		}
		if p.c != nil {
			if err := p.compare(form, want, k); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// emitted computes a product at a level and compares it.
func (p *projection) emitted(l level, form, threads int, want []float64, k *checks) error {
	clear(p.out[form])
	_, err := l.at(func() (int64, error) {
		setThreads(threads)
		defer setThreads(1)
		p.runner(form).Run()
		return 0, nil
	})()
	if err != nil {
		return err
	}
	return k.add(l.variant(), difference{at("product", p.d), products[float32]()[form].name, distance(p.out[form], want)})
}

// compare computes a product with OpenBLAS and compares it.
func (p *projection) compare(form int, want []float64, k *checks) error {
	if _, err := p.c.product(p.number, form, 0); err != nil {
		return err
	}
	x, err := p.c.get(len(want), "result %d %d", p.number, form)
	if err != nil {
		return err
	}
	return k.add(openBLAS, difference{at("product", p.d), products[float32]()[form].name, distance(x, want)})
}

// tasks are the products of every variant on one thread.
func (p *projection) tasks() (out []task) {
	for form, prod := range products[float32]() {
		what := at(prod.name, p.d)
		for _, l := range p.levels {
			out = append(out, task{what, 0, l.variant(), l.at(clocked(p.runner(form)))})
		}
		if p.c != nil {
			out = append(out, task{what, 0, openBLAS, warmed(func(warm int) (int64, error) {
				t, err := p.c.product(p.number, form, warm)
				return t.cpu, err
			})})
		}
	}
	return out
}

type call func()

// Run calls it.
func (c call) Run() { c() }

// runner is one product.
func (p *projection) runner(form int) runner {
	prod := products[float32]()[form]
	return call(func() { prod.run(p.matrices, p.out[form]) })
}

// projections are those of all widths.
func projections(c *cc[float32], seed uint64, k *checks) (out []*projection, err error) {
	for _, d := range widths {
		p, err := newProjection(d, c, seed, k)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
