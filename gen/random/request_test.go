package random_test

import (
	"github.com/nl-hecate/hecate/gen/emitgo/gokernel"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/plan"
)

func checkpoint(k *plan.Kernel, name string) *plan.Buffer {
	for _, b := range k.Params {
		if b.Role == plan.Checkpoint && b.Name == name {
			return b
		}
	}
	return nil
}

func (x *trial) request(k *plan.Kernel, w variant, sizes map[string]int) *request {
	n := x.h.names[k]
	r := &request{Kernel: k.Name, Single: w.single, Level: w.level, Cores: w.cores, Sizes: map[string]int{}, Reals: map[string][]float64{},
		Ints: map[string][]int32{}, Bools: map[string][]bool{}, Made: map[string]int{}, Work: n.Work}
	for _, s := range k.Sizes {
		r.Sizes[n.Sizes[s]] = sizes[s]
	}
	return r
}

// give passes values to a kernel, take those of another kernel.
func (r *request) give(field string, elem ir.Elem, data []float64) {
	switch elem {
	case ir.Int:
		out := make([]int32, len(data))
		for i, v := range data {
			out[i] = int32(v)
		}
		r.Ints[field] = out
	case ir.Bool:
		out := make([]bool, len(data))
		for i, v := range data {
			out[i] = v != 0
		}
		r.Bools[field] = out
	default:
		r.Reals[field] = data
	}
}

func (r *request) take(field string, elem ir.Elem, from response, at string) {
	if elem == ir.Bool {
		r.Bools[field] = from.Bools[at]
		return
	}
	r.Reals[field] = from.Reals[at]
}

// named are the numbers of an answer by the names of buffers.
func (r response) named(k *plan.Kernel, n *gokernel.Names) map[string][]float64 {
	out := map[string][]float64{}
	for _, b := range k.Params {
		if x, ok := r.Reals[n.Buffers[b]]; ok {
			out[b.Name] = x
		}
	}
	return out
}

// length is the number of entries of a buffer.
func length(b *plan.Buffer, k *plan.Kernel, sizes map[string]int) int {
	n, err := b.Len().Eval(plan.WithCeils(k.Ceils, sizes))
	if err != nil {
		panic(err)
	}
	return n
}
