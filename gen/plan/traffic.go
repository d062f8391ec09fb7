package plan

import (
	"fmt"
	"maps"

	"github.com/nl-hecate/hecate/gen/shape"
)

// Traffic counts the bytes that the passes of a kernel move between memory and the
// processor, for given sizes and with operands in float32.
//
// A pass is a loop nest, a matrix product, a triangular solve or the clearing of a buffer; in
// a recurrence, it is what runs for one token, or a whole loop over rows. It reads and writes
// each entry that it mentions once, whatever stays in a cache from one pass to the next.
// Buffers that are private to a row are not counted: they stay in registers and the first
// cache. Private are the bytes, in both directions, of those that are private to an element
// of the batch, such as the states of a rule whose rows see each other.
type Traffic struct{ Read, Written, Private int64 }

// Total is what is read and written of parameters, results and workspace.
func (t Traffic) Total() int64 { return t.Read + t.Written }

// Traffic counts for sizes that must have all of k.Sizes. A buffer that may be absent is
// present.
func (k *Kernel) Traffic(sizes map[string]int) Traffic {
	c := &trafficCounter{sizes: k.values(sizes), extent: map[*Var]int64{}, ofRow: map[*Buffer]bool{}}
	c.passes(k.Body, 1)
	return c.sum
}

// values are the values of all sizes of a kernel from those that are free.
func (k *Kernel) values(free map[string]int) map[string]int {
	out := maps.Clone(free)
	for _, q := range k.Ceils {
		num, den := evaluate(q.Num, out), evaluate(q.Den, out)
		out[q.Name] = int((num + den - 1) / den)
	}
	return out
}

func evaluate(p shape.Poly, sizes map[string]int) int64 {
	n, err := p.Eval(sizes)
	if err != nil {
		panic(fmt.Sprintf("plan: BUG: a size without a value: %v", err))
	}
	return int64(n)
}

type trafficCounter struct {
	sizes  map[string]int
	extent map[*Var]int64   // how many values a variable takes in one pass
	ofRow  map[*Buffer]bool // private to a row
	sum    Traffic
}

func (c *trafficCounter) size(p shape.Poly) int64 { return evaluate(p, c.sizes) }

// passes counts nodes, each of which runs so many times.
func (c *trafficCounter) passes(ns []Node, times int64) {
	for _, n := range ns {
		switch n := n.(type) {
		case *Loop:
			c.private(n)
			if n.Kind == Batch || n.Kind == Segment || n.Kind == Time {
				c.extent[n.Var] = 1
				c.passes(n.Body, times*c.iterations(n))
				continue
			}
		case *If:
			c.passes(n.Body, times)
			continue
		}
		c.pass(n, times)
	}
}

// iterations is how often a loop runs, at most. A bound that needs a variable is left out.
func (c *trafficCounter) iterations(n *Loop) int64 {
	least := int64(1) << 62
	for _, hi := range n.Hi {
		if len(hi.Terms) == 0 {
			least = min(least, c.size(hi.Const))
		}
	}
	most := int64(0)
	for _, lo := range n.Lo {
		if len(lo.Terms) == 0 {
			most = max(most, c.size(lo.Const))
		}
	}
	if least == 1<<62 {
		return 1
	}
	return max(0, least-most)
}

func (c *trafficCounter) pass(n Node, times int64) {
	read, written := map[*Buffer]int64{}, map[*Buffer]int64{}
	note := func(m map[*Buffer]int64, b *Buffer, entries int64) {
		for b = b.Base(); b.NarrowOf != nil; b = b.Base() {
			b = b.NarrowOf
		}
		if !c.ofRow[b] {
			m[b] = max(m[b], entries)
		}
	}
	matrix := func(m map[*Buffer]int64, at Access, rows, cols shape.Poly) {
		note(m, at.Buf, c.size(rows)*c.size(cols))
	}
	var walk func(n Node)
	walk = func(n Node) {
		EachLoad(n, func(a Access) { note(read, a.Buf, c.footprint(a)) })
		switch n := n.(type) {
		case *Loop:
			c.extent[n.Var] = c.iterations(n)
			c.private(n)
		case *Gather:
			note(read, n.From.Buf, c.footprint(n.From))
			c.extent[n.To] = c.footprint(n.From)
		case *Store:
			note(written, n.To.Buf, c.footprint(n.To))
			if n.Add {
				note(read, n.To.Buf, c.footprint(n.To))
			}
		case *Zero:
			note(written, n.Buf, c.size(n.Buf.Len()))
		case *Gemm:
			matrix(read, n.A.At, n.M, n.K)
			matrix(read, n.B.At, n.K, n.N)
			matrix(written, n.C.At, n.M, n.N)
			if n.Add {
				matrix(read, n.C.At, n.M, n.N)
			}
		case *TriSolve:
			matrix(read, n.A.At, n.M, n.M)
			matrix(read, n.X.At, n.M, n.N)
			matrix(written, n.X.At, n.M, n.N)
		}
		if body := Body(n); body != nil {
			for _, x := range *body {
				walk(x)
			}
		}
	}
	walk(n)
	add := func(m map[*Buffer]int64, to *int64) {
		for b, entries := range m {
			if bytes := times * entries * b.Elem.Bytes(); b.Role == Private {
				c.sum.Private += bytes
			} else {
				*to += bytes
			}
		}
	}
	add(read, &c.sum.Read)
	add(written, &c.sum.Written)
}

// private notes the buffers of a loop over rows.
func (c *trafficCounter) private(n *Loop) {
	for _, b := range n.Private {
		c.ofRow[b] = n.Kind == Row
	}
}

// footprint is the number of entries that an access has in one pass.
func (c *trafficCounter) footprint(a Access) int64 {
	n := int64(1)
	for i, x := range a.Index {
		most := int64(1)
		for _, t := range x.Terms {
			most *= max(1, c.extent[t.Var])
		}
		n *= min(most, c.size(a.Buf.Dims[i]))
	}
	return n
}
