//go:build (amd64 || arm64) && !purego

package kern

// The blocking is that of Goto and van de Geijn. At most gemmDepth steps of the
// sum and gemmSpan columns of C are taken at once: their part of B is packed in
// panels as wide as a block, then blocks of rows of C walk along the panels.
// What a block reads of A, brought together where that pays, stays in the cache
// of the first level meanwhile, B in that of the second. Between stretches of
// the sum the partial sums are in memory as they are.
//
// Packing is divided between workers by panels, the rest by blocks of rows and,
// where there are few, by panels too.

import (
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/workers"
)

const (
	gemmDepth  = 512            // steps of the sum whose B is packed at once
	gemmSpan   = 512            // columns of C that are computed at once
	gemmRise   = 512            // rows of C whose sums wait in memory
	gemmWidest = 32             // columns of the widest panel
	gemmStride = gemmDepth + 16 // between rows of A that are brought together
	gemmReuse  = 4              // panels from which on that pays
	gemmFew    = 64             // rows for which packing B does not pay where it can be read
	gemmAlone  = 1 << 19        // multiply-adds below which one core is fastest
	gemmSmall  = 1 << 15        // entries of B that are not worth a division
	gemmTasks  = 4              // parts for each worker: one may be held up
)

// A gemmJob is one product, C in rows.
type gemmJob struct {
	own         gemmSpace // of what is not divided; first, see gemmSpace
	m, n, depth int
	coef        float32
	add         bool
	c           []float32
	cRow        int
	a           []float32
	aRow, aCol  int
	b           []float32
	bRow, bCol  int

	blockKernels

	// The stretch that is computed now.
	i0, i1, j0, j1, k0, k1 int
	packing                bool // parts are panels to pack
	direct                 bool // B is read where it is
	rows, columns          int  // into how many parts blocks and panels are divided

	packed []float32 // gemmSpan·gemmDepth
	sums   []float32 // gemmSpan·gemmRise
}

// A gemmSpace is what a part works in.
type gemmSpace struct {
	a     [gemmDepth * 16]float32 // first: it begins at a line of the cache
	block gemmBlock
	pack  gemmPack
}

var (
	gemmJobs   shelf[gemmJob]
	gemmSpaces shelf[gemmSpace]
)

// gemmFast computes C in rows with the kernels of a level. What it reads and
// writes has been checked to be within the slices.
func gemmFast(level cpu.Target, m, n, depth int, coef float32, add bool,
	c []float32, cRow int, a []float32, aRow, aCol int, b []float32, bRow, bCol int) bool {
	g := gemmJobs.take()
	g.m, g.n, g.depth, g.coef, g.add, g.c, g.cRow = m, n, depth, coef, add, c, cRow
	g.a, g.aRow, g.aCol, g.b, g.bRow, g.bCol = a, aRow, aCol, b, bRow, bCol
	g.blockKernels = kernels(level)
	if g.packed == nil {
		g.packed = make([]float32, gemmSpan*gemmDepth)
	}
	rise := m
	if depth > gemmDepth {
		rise = min(m, gemmRise)
		if g.sums == nil {
			g.sums = make([]float32, gemmSpan*gemmRise)
		}
	}
	for g.j0 = 0; g.j0 < n; g.j0 = g.j1 {
		g.j1 = min(n, g.j0+gemmSpan)
		for g.i0 = 0; g.i0 < m; g.i0 = g.i1 {
			g.i1 = min(m, g.i0+rise)
			stretches := parts(depth, gemmDepth)
			for i := range stretches {
				g.k0, g.k1 = i*depth/stretches, (i+1)*depth/stretches
				g.stretch()
			}
		}
	}
	g.a, g.b, g.c, g.own.block, g.own.pack = nil, nil, nil, gemmBlock{}, gemmPack{} // keeps no matrix alive
	gemmJobs.put(g)
	return true
}

// parts is how many parts n has, each of at most so much.
func parts(n, most int) int { return (n + most - 1) / most }

// stretch packs B and computes, each on as many workers as pay.
func (g *gemmJob) stretch() {
	depth, rows, cols := g.k1-g.k0, g.i1-g.i0, g.j1-g.j0
	blocks, panels := parts(rows, g.height), parts(cols, g.width)
	g.direct = g.bCol == 1 && rows <= gemmFew && cols%g.width == 0
	g.packing = true
	switch {
	case g.direct:
	case depth*cols < gemmSmall:
		for i := range panels {
			g.part(&g.own, i)
		}
	default:
		workers.Each(panels, g)
	}
	g.packing, g.rows, g.columns = false, 1, 1
	if float64(rows)*float64(cols)*float64(depth) >= gemmAlone {
		if count := workers.Count(); count > 1 {
			// Entries do not see each other, so the parts may depend on the count.
			g.rows = min(blocks, gemmTasks*count)
			g.columns = min(panels, parts(gemmTasks*count, g.rows))
		}
	}
	if g.rows*g.columns == 1 {
		g.part(&g.own, 0)
	} else {
		workers.Each(g.rows*g.columns, g)
	}
}

// Part is a part of a division between workers.
func (g *gemmJob) Part(i int) {
	s := gemmSpaces.take()
	g.part(s, i)
	s.block, s.pack = gemmBlock{}, gemmPack{} // keeps no matrix alive
	gemmSpaces.put(s)
}

// part packs a panel or computes some blocks along some panels.
func (g *gemmJob) part(s *gemmSpace, i int) {
	if g.packing {
		g.pack(s, g.j0+i*g.width, g.packed[i*g.width*(g.k1-g.k0):])
	} else {
		blocks, panels := parts(g.i1-g.i0, g.height), parts(g.j1-g.j0, g.width)
		r, c := i/g.columns, i%g.columns
		g.compute(s, r*blocks/g.rows, (r+1)*blocks/g.rows, c*panels/g.columns, (c+1)*panels/g.columns)
	}
}

// pack packs the panel of B that begins with column j.
func (g *gemmJob) pack(s *gemmSpace, j int, to []float32) {
	depth, cols := g.k1-g.k0, min(g.width, g.n-j)
	b := g.b[g.k0*g.bRow+j*g.bCol:]
	if g.bCol != 1 && cols > 1 {
		g.packColumns(s, b, depth, cols, to)
		return
	}
	s.pack = gemmPack{dst: &to[0], src: &b[0], from: 4 * g.bRow, depth: depth, mask: &gemmMasks[gemmWidest-cols], columns: cols}
	g.packPanelRows(&s.pack)
}

// packColumns packs columns of B, those that are contiguous by kernels.
func (g *gemmJob) packColumns(s *gemmSpace, b []float32, depth, cols int, to []float32) {
	if cols < g.width {
		clear(to[:depth*g.width])
	}
	done, quads := 0, depth&^3
	if g.bRow == 1 && quads > 0 {
		for vector := g.width / 2; done+vector <= cols; done += vector {
			s.pack = gemmPack{dst: &to[done], src: &b[done*g.bCol], from: 4 * g.bCol, depth: quads}
			g.packPanelColumns(&s.pack)
		}
	}
	for j := range cols {
		k := 0
		if j < done {
			k = quads
		}
		for at := k*g.bRow + j*g.bCol; k < depth; k++ {
			to[k*g.width+j] = b[at]
			at += g.bRow
		}
	}
}

// compute takes some blocks of rows, of nearly equal height, along some panels.
func (g *gemmJob) compute(s *gemmSpace, block0, block1, panel0, panel1 int) {
	p, depth, rows := &s.block, g.k1-g.k0, g.i1-g.i0
	*p = gemmBlock{cRow: 4 * g.cRow, depth: depth, coef: g.coef, bRow: 4 * g.width}
	if g.direct {
		p.bRow = 4 * g.bRow
	}
	if g.k0 > 0 {
		p.mode |= gemmBegun
	}
	if g.k1 < g.depth {
		p.mode |= gemmUnfinished
	}
	if g.add {
		p.mode |= gemmAdd
	}
	blocks := parts(rows, g.height)
	for block := block0; block < block1; block++ {
		from, to := block*rows/blocks, (block+1)*rows/blocks
		p.rows = to - from
		g.gather(s, g.i0+from, panel1-panel0)
		for panel := panel0; panel < panel1; panel++ {
			j := g.j0 + panel*g.width
			if g.direct {
				p.b = &g.b[g.k0*g.bRow+j]
			} else {
				p.b = &g.packed[panel*g.width*depth]
			}
			if p.mode&(gemmBegun|gemmUnfinished) != 0 {
				p.sums = &g.sums[(panel*rows+from)*g.width]
			}
			p.c = &g.c[(g.i0+from)*g.cRow+j]
			p.columns = min(g.width, g.n-j)
			p.mask = &gemmMasks[gemmWidest-p.columns]
			g.block(p)
		}
	}
}

// gather says where the rows of A of a block are, from row i on. Where they are
// used often they are brought together.
func (g *gemmJob) gather(s *gemmSpace, i, panels int) {
	p, a := &s.block, g.a[i*g.aRow+g.k0*g.aCol:]
	p.a, p.aRow, p.aCol = &a[0], 4*g.aRow, 4*g.aCol
	switch {
	case panels < gemmReuse:
	case g.aCol == 1 && g.aRow > p.depth:
		for r := range p.rows {
			copy(s.a[r*gemmStride:][:p.depth], a[r*g.aRow:])
		}
		p.a, p.aRow = &s.a[0], 4*gemmStride
	case g.aRow == 1:
		s.pack = gemmPack{dst: &s.a[0], src: &a[0], from: 4 * g.aCol, depth: p.depth, mask: &gemmMasks[gemmWidest-p.rows], columns: p.rows}
		p.a, p.aCol = &s.a[0], 2*g.width
		g.packRow(&s.pack)
	}
}
