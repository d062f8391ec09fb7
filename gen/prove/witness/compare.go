package witness

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/interp"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/prove/numeric"
	"github.com/nl-hecate/hecate/gen/prove/sample"
)

// A comparison compares one program with one witness.
type comparison struct {
	w       *Witness
	f       *ir.Func
	vectors Vectors
	sizes   map[string]int
	params  numeric.Tensors
	n       int
	worst   Mismatch
}

// tensor reads the value of an assignment.
func (h *comparison) tensor(name string) ([]int, []float64, error) {
	if x, err := strconv.ParseFloat(name, 64); err == nil {
		return nil, []float64{x}, nil
	}
	name = strings.TrimPrefix(name, "@")
	block := -1
	if k, i, ok := strings.Cut(name, "["); ok {
		name = k
		block, _ = strconv.Atoi(strings.TrimSuffix(i, "]"))
	}
	name, order, _ := strings.Cut(name, "(")
	shape, data, ok := h.vectors(h.w.Prefix + name)
	if !ok {
		return nil, nil, fmt.Errorf("there is no tensor %s%s", h.w.Prefix, name)
	}
	if order != "" {
		var err error
		if data, err = columns(shape, data, order); err != nil {
			return nil, nil, fmt.Errorf("%s(%s: %w", name, order, err)
		}
	}
	if block >= 0 && len(shape) > 0 {
		n := len(data) / shape[0]
		shape, data = shape[1:], data[block*n:(block+1)*n]
	}
	return shape, data, nil
}

// columns permutes the columns of a tensor.
func columns(shape []int, data []float64, order string) ([]float64, error) {
	list := strings.Split(strings.TrimSuffix(order, ")"), ",")
	n := len(list)
	if len(shape) == 0 || shape[len(shape)-1] != n {
		return nil, fmt.Errorf("an order of %d columns for the shape %v", n, shape)
	}
	out := make([]float64, len(data))
	for j, text := range list {
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || k >= n {
			return nil, fmt.Errorf("there is no column %q", text)
		}
		for i := 0; i < len(data); i += n {
			out[i+j] = data[i+k]
		}
	}
	return out, nil
}

// source is the name of the tensor that a parameter is read from.
func (h *comparison) source(param string) string {
	if t, ok := h.w.In[param]; ok {
		return strings.TrimPrefix(t, "~")
	}
	return strings.TrimPrefix(param, h.w.Strip)
}

// readParams reads sizes and parameters.
func (h *comparison) readParams() error {
	h.sizes, h.params = map[string]int{}, numeric.Tensors{}
	for k, v := range h.w.Sizes {
		_, data, err := h.tensor(v)
		if err != nil {
			return err
		}
		h.sizes[k] = int(data[0])
	}
	for _, p := range h.f.Params {
		shape, _, err := h.tensor(h.source(p.Name))
		if err != nil {
			return err
		}
		for i, a := range p.Axes {
			s, ok := a.Size.Symbol()
			if at := len(shape) - len(p.Axes) + i; ok && at >= 0 && h.w.Sizes[s] == "" {
				h.sizes[s] = shape[at]
			}
		}
	}
	if _, ok := h.sizes[sample.Batch]; !ok {
		h.sizes[sample.Batch] = 1
	}
	for _, p := range h.f.Params {
		_, data, _ := h.tensor(h.source(p.Name))
		t := interp.NewTensor(interp.Shape(p.Axes, h.sizes)...)
		switch {
		case len(data) == len(t.Data):
			copy(t.Data, data)
		case len(data) == 1:
			for i := range t.Data {
				t.Data[i] = data[0]
			}
		default:
			return fmt.Errorf("%s has %d entries, but parameter %s has the shape %v", h.source(p.Name), len(data), p.Name, t.Shape)
		}
		h.params[p.Name] = t
	}
	return nil
}

// compare compares results and gradients.
func (h *comparison) compare() error {
	var failed error
	given, loss := map[string]Result{}, 0.0
	for _, r := range h.w.Out {
		if h.f.Result(r.Result) == nil {
			return fmt.Errorf("%s has no result %s", h.f.Name, r.Result)
		}
		given[r.Result] = r
	}
	_, grads := numeric.ForwardBackward(h.f, autodiff.NewPair(h.f), h.sizes, h.params, func(r ir.Result, out *interp.Tensor) *interp.Tensor {
		w, ok := given[r.Name]
		if !ok {
			return nil
		}
		bar, err := h.result(w, out)
		if err != nil {
			failed = err
			return bar
		}
		for i, x := range bar.Data {
			loss += x * out.Data[i]
		}
		return bar
	})
	if failed != nil {
		return failed
	}
	h.scalar(loss)
	if err := h.gradients(grads); err != nil {
		return err
	}
	if h.n == 0 {
		return fmt.Errorf("nothing was compared")
	}
	return nil
}

// gradients compares gradients, tensor by tensor: the gradients of parameters that are read
// from one tensor are added.
func (h *comparison) gradients(grads numeric.Tensors) error {
	sums := map[string]*interp.Tensor{}
	var order []string
	for _, p := range h.f.Params {
		t := h.source(p.Name)
		if strings.HasPrefix(h.w.In[p.Name], "~") || p.Elem != ir.Real {
			continue
		}
		_, want, err := h.tensor("grad." + t)
		if err != nil {
			continue
		}
		if len(want) != len(h.params[p.Name].Data) {
			return fmt.Errorf("the gradient of %s has %d entries, grad.%s has %d", p.Name, len(h.params[p.Name].Data), t, len(want))
		}
		g := numeric.GradientOf(grads, h.params, p.Name)
		if sums[t] == nil {
			sums[t] = interp.NewTensor(g.Shape...)
			order = append(order, t)
		}
		for i, x := range g.Data {
			sums[t].Data[i] += x
		}
	}
	for _, t := range order {
		_, want, _ := h.tensor("grad." + t)
		h.record("the gradient of "+t, sums[t], want)
	}
	return nil
}

// result compares one result and returns its weights.
func (h *comparison) result(r Result, t *interp.Tensor) (*interp.Tensor, error) {
	bar := interp.NewTensor(t.Shape...)
	if r.Weight != "" {
		_, data, err := h.tensor(r.Weight)
		if err != nil {
			return nil, err
		}
		for i := range bar.Data {
			bar.Data[i] = data[i%len(data)]
		}
	}
	if r.Tensor == "" {
		return bar, nil
	}
	_, want, err := h.tensor(r.Tensor)
	if err != nil {
		return nil, err
	}
	if len(want) == 1 { // the same for every entry
		want = slices.Repeat(want, len(t.Data))
	}
	if len(want) != len(t.Data) {
		return nil, fmt.Errorf("%s has the shape %v, but %s has %d entries", r.Result, t.Shape, r.Tensor, len(want))
	}
	h.record(r.Result, t, want)
	return bar, nil
}

// scalar compares the scalar that was differentiated.
func (h *comparison) scalar(loss float64) {
	for _, r := range h.w.Out {
		if strings.HasPrefix(r.Tensor, "loss") {
			return
		}
	}
	if _, want, err := h.tensor("loss"); err == nil && len(want) == 1 {
		t := interp.NewTensor()
		t.Data[0] = loss
		h.record("the loss", t, want)
	}
}

// record compares a tensor and keeps the largest deviation.
func (h *comparison) record(name string, got *interp.Tensor, want []float64) {
	scale := 1e-6
	for _, x := range want {
		scale = math.Max(scale, math.Abs(x))
	}
	for i, x := range want {
		h.n++
		err := math.Abs(got.Data[i]-x) / scale
		if got.Data[i] == x {
			err = 0
		}
		if !(err <= h.worst.Err) && !math.IsNaN(h.worst.Err) {
			h.worst = Mismatch{name, numeric.Unravel(got.Shape, i), got.Data[i], x, err}
		}
	}
}
