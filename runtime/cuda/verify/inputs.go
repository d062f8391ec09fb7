//go:build linux && (amd64 || arm64) && !nogpu

package verify

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/runtime/cuda"
)

// draw makes the parameters that have no values yet, in their domains.
func (c *call) draw(k *cuda.Kernel, s *cuda.Shape) error {
	for i := range k.Buffers {
		b := &k.Buffers[i]
		if c.values[b.Of] != nil || b.Role != "read" {
			continue
		}
		var err error
		n := s.Lengths[i]
		switch b.Type {
		case "int":
			c.values[b.Of], err = c.ints(b, n)
		case "bool":
			x := make([]bool, n)
			for i := range x {
				x[i] = c.rng.IntN(2) == 1
			}
			c.values[b.Of] = x
		default:
			c.values[b.Of], err = c.reals(b, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ints draws whole numbers: in their range, or counts of tokens.
func (c *call) ints(b *cuda.Buffer, n int) ([]int32, error) {
	first, last, bounded, err := b.Range(c.sizes)
	if err != nil {
		return nil, err
	}
	if bounded && last < first && n > 0 {
		return nil, errEmpty
	}
	x := make([]int32, n)
	for i := range x {
		switch {
		case !bounded:
			x[i] = []int32{0, 2, 100}[c.rng.IntN(3)]
		case len(b.Extra) > 0 && c.rng.IntN(4) == 0:
			x[i] = int32(b.Extra[c.rng.IntN(len(b.Extra))])
		default:
			x[i] = int32(first + c.rng.IntN(last-first+1))
		}
	}
	return x, nil
}

// reals draws real numbers.
func (c *call) reals(b *cuda.Buffer, n int) ([]float64, error) {
	x := make([]float64, n)
	for i := range x {
		v := c.scale * deviation * c.rng.NormFloat64()
		switch {
		case b.Clock:
			v = 3
		case b.Value != nil:
			v = *b.Value
		case b.Init != nil:
			v += *b.Init
		case b.From != nil && b.To != nil:
			share := 1 / (1 + math.Exp(-v))
			if c.edges && c.rng.IntN(8) == 0 {
				share = []float64{c.edge, 1 - c.edge}[c.rng.IntN(2)]
			}
			v = *b.From + (*b.To-*b.From)*share
		case b.From != nil:
			v = *b.From + math.Abs(v) + c.scale*least
		case b.To != nil:
			v = *b.To - math.Abs(v) - c.scale*least
		}
		x[i] = v
	}
	if b.Rows == "" || n == 0 {
		return rounded(x), nil
	}
	width, err := b.Row(c.sizes)
	if err != nil {
		return nil, err
	}
	for row := range slices.Chunk(x, max(width, 1)) {
		sum := 0.0
		for i, v := range row {
			if b.Rows == "distribution" {
				row[i] = math.Exp(v)
				sum += row[i]
			} else {
				sum += v * v
			}
		}
		if b.Rows == "unit" {
			sum = math.Sqrt(sum)
		}
		for i := range row {
			row[i] /= sum
		}
	}
	return rounded(x), nil
}

func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(float32(v))
	}
	return out
}
