package claim

import (
	"math"

	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// A line is a program along a line through its parameters, or along a ray from the origin.
type line struct {
	prog      *interp.Program
	f         *ir.Func
	sizes     map[string]int
	base, dir numeric.Tensors
	ray       bool
}

func newLine(prog *interp.Program, f *ir.Func, draw *sample.Sampler, ray bool) *line {
	l := &line{prog: prog, f: f, sizes: draw.Sizes, base: draw.Params(f), dir: draw.Params(f), ray: ray}
	for _, v := range f.Params {
		moves := v.Elem == ir.Real && v.Role == ir.Input && len(v.Axes) > 0
		if !moves {
			clear(l.dir[v.Name].Data)
		} else if ray {
			clear(l.base[v.Name].Data)
		}
	}
	return l
}

func (l *line) run(s float64) numeric.Tensors { return l.prog.Run(l.sizes, l.at(s)) }

// at are the parameters at a point of the line.
func (l *line) at(s float64) numeric.Tensors {
	params := numeric.Tensors{}
	for n, t := range l.base {
		u := t.Clone()
		for i, d := range l.dir[n].Data {
			u.Data[i] += s * d
		}
		params[n] = u
	}
	return params
}

// sides are the differences of the two sides, by entry.
func (l *line) sides(s float64) []float64 {
	out := l.run(s)
	d := make([]float64, len(out[irbuild.Left].Data))
	for i, x := range out[irbuild.Left].Data {
		d[i] = x - out[irbuild.Right].Data[i]
	}
	return d
}

// grid are the points of the line between which signs are compared.
func (l *line) grid() []float64 {
	if l.ray {
		return numeric.RayGrid()
	}
	var grid []float64
	for k := range 33 {
		grid = append(grid, float64(k-16)/4)
	}
	return grid
}

// find returns a point of the line where the difference of some entry changes its sign.
func (l *line) find() (float64, bool) { return numeric.SignChange(l.sides, l.grid()) }

// scales are the distances at which a kink is approached, relative to its position on a ray.
// Only the smaller ones tell it from another kink nearby; a jump is seen at every distance.
var scales = []float64{1e-4, 1e-6, 1e-8, 1e-10, 1e-12}

// across is the relative jump of the value and of its slope at s, the least of all scales.
func (l *line) across(s float64) (jump, bend float64) {
	jump, bend = math.Inf(1), math.Inf(1)
	for _, h := range scales {
		if l.ray {
			h *= s
		}
		j, b := l.jumps(s, h)
		jump, bend = math.Min(jump, j), math.Min(bend, b)
	}
	return jump, bend
}

// between compares the derivative a along the line with the slopes on both sides of s; ok
// means that at some scale it is between them.
func (l *line) between(pair *ir.Pair, s float64) (a, lo, hi float64, ok bool) {
	_, grads := numeric.ForwardBackward(l.f, pair, l.sizes, l.at(s), func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		if r.Name != irbuild.Value {
			return nil
		}
		return numeric.Ones(out)
	})
	for n, g := range grads {
		for i, x := range l.dir[n].Data {
			a += x * g.Data[i]
		}
	}
	total := func(s float64) float64 {
		sum := 0.0
		for _, x := range l.run(s)[irbuild.Value].Data {
			sum += x
		}
		return sum
	}
	for _, h := range scales {
		if l.ray {
			h *= s
		}
		below, above := (total(s-h)-total(s-2*h))/h, (total(s+2*h)-total(s+h))/h
		lo, hi = math.Min(below, above), math.Max(below, above)
		slack := slopeTol * math.Max(1, math.Max(math.Abs(lo), math.Abs(hi)))
		if a >= lo-slack && a <= hi+slack {
			return a, lo, hi, true
		}
	}
	return a, lo, hi, false
}

// jumps is the relative jump at s of the value, extrapolated from both sides, and of its
// slope, at one scale.
func (l *line) jumps(s, h float64) (jump, bend float64) {
	m2, m1 := l.run(s - 2*h)[irbuild.Value].Data, l.run(s - h)[irbuild.Value].Data
	p1, p2 := l.run(s + h)[irbuild.Value].Data, l.run(s + 2*h)[irbuild.Value].Data
	for i := range m1 {
		scale := math.Max(1, math.Max(math.Abs(m1[i]), math.Abs(p1[i])))
		left, right := 2*m1[i]-m2[i], 2*p1[i]-p2[i]
		if j := math.Abs(right-left) / scale; !(j <= jump) {
			jump = j
		}
		below, above := (m1[i]-m2[i])/h, (p2[i]-p1[i])/h
		if b := math.Abs(above-below) / math.Max(1, math.Max(math.Abs(below), math.Abs(above))); !(b <= bend) {
			bend = b
		}
	}
	return jump, bend
}
