package gokernel_test

import (
	"fmt"
	"testing"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
)

// splits runs T tokens in one call and in two with the carried states: the
// same bits. It takes the programs whose series all have the axes L, T first.
func splits(t *testing.T, b *bench) {
	for _, p := range b.programs {
		if !streams(p) {
			continue
		}
		for _, sizes := range p.sizes {
			T := sizes["T"]
			if T < 2 {
				continue
			}
			x := b.trial(t, p, sizes)
			whole := x.forward(true, true)
			for _, at := range []int{1, T / 2, T - 1} {
				first := x.part(0, at, nil).forward(true, true)
				second := x.part(at, T, first).forward(true, true)
				x.sameParts(fmt.Sprintf("%s: %v split at %d", p.name, sizes, at), whole, first, second, at)
			}
		}
	}
}

func streams(p *program) bool {
	for _, v := range p.f.Params {
		series := len(v.Axes) > 1 && v.Axes[1].Name == "T"
		if !series && v.Role == ir.Input {
			return false
		}
	}
	return p.fwd.Segment != ""
}

func hasTime(axes []*ir.Axis) bool { return len(axes) > 1 && axes[1].Name == "T" }

// part is the trial on tokens [from, to), from the states that before gave.
func (x *trial) part(from, to int, before map[string][]float64) *trial {
	y := *x
	y.sizes = map[string]int{}
	for n, v := range x.sizes {
		y.sizes[n] = v
	}
	y.sizes["T"] = to - from
	y.params = map[string]*interp.Tensor{}
	for _, v := range x.p.f.Params {
		full := x.params[v.Name]
		switch {
		case hasTime(v.Axes):
			y.params[v.Name] = &interp.Tensor{Shape: interp.Shape(v.Axes, y.sizes), Data: cutTime(full.Data, full.Shape, from, to)}
		case v.Role == ir.State && before != nil:
			y.params[v.Name] = &interp.Tensor{Shape: full.Shape, Data: before[x.p.fwd.Result(v.Name).Name]}
		default:
			y.params[v.Name] = full
		}
	}
	return &y
}

func cutTime(data []float64, shape []int, from, to int) []float64 {
	row := 1
	for _, n := range shape[2:] {
		row *= n
	}
	var out []float64
	for l := range shape[0] {
		out = append(out, data[(l*shape[1]+from)*row:(l*shape[1]+to)*row]...)
	}
	return out
}

func (x *trial) sameParts(what string, whole, first, second map[string][]float64, at int) {
	for _, r := range x.p.pair.Fwd.Results {
		name := x.p.fwd.Result(r.Name).Name
		if !hasTime(r.Val.Axes) {
			if r.State {
				same(x.t, what, second, whole, name)
			}
			continue
		}
		shape := interp.Shape(r.Val.Axes, x.sizes)
		a := map[string][]float64{name: cutTime(whole[name], shape, 0, at)}
		same(x.t, what, first, a, name)
		b := map[string][]float64{name: cutTime(whole[name], shape, at, shape[1])}
		same(x.t, what, second, b, name)
	}
}
