//go:build linux && (amd64 || arm64) && !nogpu

package verify

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// Run verifies kernels and calls each for every one with its sizes. reference makes calls of a kernel in Go.
// The error is that of the device, or of ctx; a kernel that differs is none.
func Run(ctx context.Context, d *cuda.Device, l *cuda.Library, reference func(kernel string) (device.Reference, bool), o Options, each func(Row) error) error {
	for _, name := range o.chosen(l) {
		for _, model := range o.models() {
			p := &pair{device: d, library: l, reference: reference, model: model, options: o}
			for _, r := range p.rows(ctx, name) {
				if err := each(r); err != nil {
					return err
				}
			}
			if err := errors.Join(ctx.Err(), d.Lost()); err != nil {
				return err
			}
		}
	}
	return nil
}

// On is Run on the n-th device, which it opens and closes. opened is called with the device before the
// first kernel.
func On(ctx context.Context, n int, l *cuda.Library, reference func(kernel string) (device.Reference, bool), o Options, opened func(cuda.Info, int), each func(Row) error) error {
	d, err := cuda.Open(n)
	if err != nil {
		return err
	}
	opened(d.Info, len(o.chosen(l)))
	return errors.Join(Run(ctx, d, l, reference, o, each), d.Close())
}

// A pair is a kernel and its backward at some sizes of the model.
type pair struct {
	device    *cuda.Device
	library   *cuda.Library
	reference func(string) (device.Reference, bool)
	model     map[string]int
	options   Options
}

// rows verifies the kernel and its backward.
func (p *pair) rows(ctx context.Context, name string) (out []Row) {
	kernels := []*cuda.Kernel{}
	for _, n := range both(p.library, name) {
		k, err := p.library.Kernel(n)
		if err != nil {
			return append(out, Row{Kernel: n, Verdict: Failed, Detail: err.Error()})
		}
		kernels = append(kernels, k)
		out = append(out, Row{Kernel: n, Page: k.Page, Equations: equations(k), Target: p.device.Info.Target(), Verdict: Same})
	}
	sizes := p.options.sizesOf(p.model, kernels)
	var loaded []*cuda.Loaded
	defer func() {
		for _, x := range loaded {
			x.Unload()
		}
	}()
	for i, k := range kernels {
		out[i].Sizes = cuda.SizesText(only(sizes, k))
		x, err := p.device.Prepare(p.library, k, sizes)
		if err != nil {
			for j := range out {
				out[j].Verdict, out[j].Detail = Failed, err.Error()
			}
			return out
		}
		out[i].Image = x.From
		loaded = append(loaded, x)
	}
	for _, n := range p.options.tokens(kernels[0]) {
		for _, step := range []int{3, -3} { // further open sizes grow, or shrink
			if ctx.Err() != nil {
				return nil
			}
			all := maps.Clone(sizes)
			all["L"], all["T"] = 2, n
			for j, s := range kernels[0].Open {
				if s != "L" && s != "T" {
					all[s] = min(7*n, 70) + max(step*j, step*(j-len(kernels[0].Open)))
				}
			}
			var err error
			for _, edge := range []float64{0, nearEdge} {
				before := slices.Clone(out)
				for try := range p.options.tries() {
					copy(out, before)
					c := &call{pair: p, sizes: all, values: map[string]any{}, rng: rand.New(rand.NewPCG(p.options.Seed+uint64(try)<<32, uint64(n))), scale: 1, edges: n%2 == 1, edge: edge}
					err = c.both(loaded, out)
					if !slices.ContainsFunc(out, func(r Row) bool { return r.Verdict == Wrong }) {
						if try > 0 {
							out[0].Detail = fmt.Sprintf("%d of the inputs drawn at T=%d gave other results: %s", try, n, near)
						}
						break
					}
				}
				if !errors.Is(err, errEdge) {
					break
				}
				copy(out, before)
				for i := range out {
					out[i].Detail = fmt.Sprintf("the ends of ranges were not tested at T=%d: results there are not numbers", n)
				}
			}
			if !errors.Is(err, errEmpty) {
				break
			}
		}
	}
	for i := range out {
		if out[i].Calls == 0 && out[i].Verdict == Same {
			out[i].Verdict = Failed
			if out[i].Detail == "" {
				out[i].Detail = "no sizes were found at which its parameters have values"
			}
		}
	}
	return out
}

// both verifies the kernel and its backward at some sizes. The error is errEmpty or errEdge; what fails is noted
// in the rows.
func (c *call) both(loaded []*cuda.Loaded, rows []Row) error {
	for i := range rows {
		err := c.verify(loaded[i], &rows[i])
		if errors.Is(err, errEmpty) || errors.Is(err, errEdge) {
			return err
		}
		if wild := chaotic(0); errors.As(err, &wild) {
			rows[i].Detail = fmt.Sprintf("not compared at T=%d: %v", c.sizes["T"], err)
			break
		}
		if err != nil {
			rows[i].Verdict, rows[i].Detail = Failed, err.Error()
			break
		}
	}
	return nil
}

// equations lists the equations of a kernel, each once.
func equations(k *cuda.Kernel) (out []string) {
	for _, f := range k.Functions {
		for _, e := range f.Equations {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	return out
}

func only(sizes map[string]int, k *cuda.Kernel) map[string]int {
	out := map[string]int{}
	for s := range k.Defaults {
		out[s] = sizes[s]
	}
	return out
}

// A call is a kernel, and then its backward, at some sizes. values are what parameters, results and
// what the forward saves are, by the name of the buffer.
type call struct {
	*pair
	sizes  map[string]int
	values map[string]any // []float64, []int32 or []bool
	rng    *rand.Rand
	scale  float64 // of the numbers, 1 or less
	edges  bool    // some numbers are at the ends of their range,
	edge   float64 // or so near, as a share of it
}

// chaotic is the error of inputs at which rounding to 32 bits alone moves results by so much that a
// comparison says nothing.
type chaotic float64

func (e chaotic) Error() string {
	return fmt.Sprintf("rounding to 32 bits alone moves its results in Go by %.2g", float64(e))
}

// errEdge says that numbers at the very ends of their ranges give results that are not numbers.
var errEdge = errors.New("edge")

// errEmpty says that no value lies in a declared range at these sizes.
var errEmpty = errors.New("empty")

// verify runs a kernel on both sides and notes in the row how far they are apart.
func (c *call) verify(x *cuda.Loaded, r *Row) error {
	k := x.Kernel
	s, err := x.Shape(c.sizes)
	if err != nil {
		return err
	}
	bound := ForwardBound
	if backwardOf(k.Name) {
		bound = BackwardBound
	}
	want, bound, err := c.inputs(k, s, bound)
	if err != nil {
		return err
	}
	got, err := c.run(x, s)
	if err != nil {
		return err
	}
	r.Calls++
	for i, b := range k.Buffers {
		exact, ok := want[b.Of]
		if !ok || b.Own() {
			continue
		}
		off := distance(numbers(got[i], b.Type), wide(exact))
		if math.IsNaN(off) || math.IsInf(off, 0) {
			off, r.Detail = math.MaxFloat64, b.Of+" is not a number" // JSON has no NaN
		}
		if r.Bound == 0 || !(off/bound <= r.Error/r.Bound) {
			r.Error, r.Bound, r.Worst = off, bound, fmt.Sprintf("%s at T=%d", b.Of, c.sizes["T"])
		}
		if !(off <= bound) {
			r.Verdict = Wrong
		}
		c.values[b.Of] = exact // for the backward
		if x, ok := exact.([]float64); ok {
			c.values[b.Of] = rounded(x)
		}
	}
	return nil
}

// inputs draws the parameters that have no values yet and returns the results of the reference with
// numbers of 64 bits, and the bound of their errors. Where rounding to 32 bits alone, of the reference or
// of the parameters of a forward, takes a good part of the bound, numbers of half the scale take their place;
// where that does not help, the bound is larger. (What a forward has saved is not independent.)
func (c *call) inputs(k *cuda.Kernel, s *cuda.Shape, bound float64) (map[string]any, float64, error) {
	given := maps.Clone(c.values)
	for n := 0; ; n++ {
		if err := c.draw(k, s); err != nil {
			return nil, 0, err
		}
		double, err1 := c.refer(k, s, false, 0)
		single, err2 := c.refer(k, s, true, 0)
		share := halfUlp
		if backwardOf(k.Name) {
			share = 0
		}
		moved, err3 := c.refer(k, s, false, share)
		if err := errors.Join(err1, err2, err3); err != nil {
			return nil, 0, err
		}
		rounding := 0.0
		for name, exact := range double {
			rounding = max(rounding, distance(wide(single[name]), wide(exact)), distance(wide(moved[name]), wide(exact)))
		}
		needed := rounding * roundingShare
		if math.IsNaN(needed) && c.edges && c.edge == 0 {
			return nil, 0, errEdge
		}
		switch {
		case needed <= bound:
			return double, bound, nil
		case n == halvings && needed <= largestBound:
			return double, needed, nil
		case n == halvings:
			return nil, 0, chaotic(rounding)
		}
		c.values = maps.Clone(given)
		c.scale /= 2
	}
}

// refer runs the kernel in Go, with numbers of 64 bits or of 32, and returns its results by name. Real
// parameters are moved by a share of themselves, in turn up and down.
func (c *call) refer(k *cuda.Kernel, s *cuda.Shape, single bool, share float64) (out map[string]any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("in Go: %v", r)
		}
	}()
	ref, ok := c.reference(k.Name)
	if !ok {
		return nil, errors.New("the program does not have it in Go")
	}
	of := ref.Double
	if single {
		of = ref.Single
	}
	v := reflect.ValueOf(of).Elem()
	for i, size := range k.Sizes { // first of the fields, in this order
		n, ok := c.sizes[size]
		if !ok {
			return nil, fmt.Errorf("size %s is not given", size)
		}
		v.Field(i).SetInt(int64(n))
	}
	out = map[string]any{}
	at, results := len(k.Sizes), map[string]reflect.Value{}
	for i, b := range k.Buffers {
		if b.Own() {
			continue
		}
		f := v.Field(at)
		at++
		switch {
		case !c.written(k, i):
			x := c.values[b.Of]
			if real, ok := x.([]float64); ok && share != 0 {
				x = moved(real, share, &b)
			}
			f.Set(as(x, f.Type()))
		default:
			f.Set(reflect.MakeSlice(f.Type(), s.Lengths[i], s.Lengths[i]))
			for j := range s.Lengths[i] {
				if f.Index(j).CanFloat() {
					f.Index(j).SetFloat(math.NaN())
				}
			}
			results[b.Of] = f
		}
	}
	if f := v.FieldByName("Work"); f.IsValid() {
		f.Set(reflect.MakeSlice(f.Type(), of.WorkLen(), of.WorkLen()))
	}
	if rows, ok := of.(interface{ RowsLen() int }); ok {
		f := v.FieldByName("Rows")
		f.Set(reflect.MakeSlice(f.Type(), rows.RowsLen(), rows.RowsLen()))
	}
	if narrow, ok := of.(interface{ OperandsLen() int }); ok && c.sizes[cuda.BFloat16] == 1 {
		f := v.FieldByName("Operands")
		f.Set(reflect.MakeSlice(f.Type(), narrow.OperandsLen(), narrow.OperandsLen()))
	}
	of.Run()
	for name, f := range results {
		out[name] = f.Interface()
	}
	return out, nil
}

// moved are numbers moved by a share of themselves, in turn up and down, as far as their range goes.
func moved(x []float64, share float64, b *cuda.Buffer) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		v *= 1 + share
		if b.From != nil {
			v = max(v, *b.From)
		}
		if b.To != nil {
			v = min(v, *b.To)
		}
		out[i], share = v, -share
	}
	return out
}

// as is a slice with numbers of another width.
func as(x any, t reflect.Type) reflect.Value {
	v := reflect.ValueOf(x)
	if v.Type() == t {
		return v
	}
	out := reflect.MakeSlice(t, v.Len(), v.Len())
	for i := range v.Len() {
		out.Index(i).SetFloat(v.Index(i).Float())
	}
	return out
}

// written reports whether a kernel writes a buffer.
func (c *call) written(k *cuda.Kernel, i int) bool {
	role := k.Buffers[i].Role
	return role == "write" || role == "checkpoint" && !backwardOf(k.Name)
}

// run runs the kernel on the device and returns the bytes of its results; they hold NaNs before.
func (c *call) run(x *cuda.Loaded, s *cuda.Shape) ([][]byte, error) {
	k := x.Kernel
	addresses := make([]cuda.Address, len(k.Buffers))
	var errs []error
	for i, b := range k.Buffers {
		a, err := c.device.Alloc(s.Lengths[i] * b.Size())
		addresses[i] = a
		errs = append(errs, err)
		if value := c.values[b.Of]; value != nil && !b.Own() && !c.written(k, i) {
			errs = append(errs, c.device.Upload(a, bytesOf(value)))
		} else {
			errs = append(errs, c.device.Fill(a, 0xff, s.Lengths[i]*b.Size()))
		}
	}
	errs = append(errs, x.Run(s, addresses))
	out := make([][]byte, len(k.Buffers))
	for i, b := range k.Buffers {
		if c.written(k, i) {
			out[i] = make([]byte, s.Lengths[i]*b.Size())
			errs = append(errs, c.device.Download(out[i], addresses[i]))
		}
		errs = append(errs, c.device.Release(addresses[i]))
	}
	return out, errors.Join(errs...)
}

func bytesOf(x any) []byte {
	var out []byte
	switch x := x.(type) {
	case []float64:
		for _, v := range x {
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
		}
	case []int32:
		for _, v := range x {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
	case []bool:
		for _, v := range x {
			out = append(out, map[bool]byte{true: 1}[v])
		}
	}
	return out
}

// numbers are the entries of a buffer; truth values are 0, and 1 or what else is there.
func numbers(data []byte, kind string) []float64 {
	var out []float64
	switch kind {
	case "float":
		for at := 0; at < len(data); at += 4 {
			out = append(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(data[at:]))))
		}
	case "int":
		for at := 0; at < len(data); at += 4 {
			out = append(out, float64(int32(binary.LittleEndian.Uint32(data[at:]))))
		}
	default:
		for _, x := range data {
			out = append(out, float64(x))
		}
	}
	return out
}

// wide is any slice of a call as numbers of 64 bits.
func wide(x any) []float64 {
	var out []float64
	switch x := x.(type) {
	case []float64:
		return x
	case []float32:
		for _, v := range x {
			out = append(out, float64(v))
		}
	case []int32:
		for _, v := range x {
			out = append(out, float64(v))
		}
	case []bool:
		out = numbers(bytesOf(x), "bool")
	}
	return out
}

// distance is the norm of a difference by that of what is exact, which counts as floor at least for
// each entry; NaN where lengths differ.
func distance(got, exact []float64) float64 {
	if len(got) != len(exact) {
		return math.NaN()
	}
	diff, norm := 0.0, float64(len(exact))*floor*floor
	for i, x := range exact {
		diff += (got[i] - x) * (got[i] - x)
		norm += x * x
	}
	if diff == 0 {
		return 0
	}
	return math.Sqrt(diff / norm)
}
