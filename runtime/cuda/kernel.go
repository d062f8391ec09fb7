//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Loaded is a kernel on a device, for sizes of the model.
type Loaded struct {
	Kernel    *Kernel
	From      string // where its image came from
	device    *Device
	module    *Module
	sizes     map[string]int
	functions []*Function
	args      []Arg
}

// Prepare loads a kernel with sizes of the model, those of Kernel.Defaults. The image is taken from the
// cache or made by NVRTC.
func (v *Device) Prepare(l *Library, k *Kernel, sizes map[string]int) (*Loaded, error) {
	x := &Loaded{Kernel: k, device: v, sizes: map[string]int{}}
	for s := range k.Defaults {
		x.sizes[s] = sizes[s]
	}
	image, from, err := l.image(k, sizes, v.Info)
	if err != nil {
		return nil, err
	}
	x.From = from
	if x.module, err = v.Load(k.Name, image); err != nil {
		return nil, err
	}
	for i := range k.Functions {
		f, err := x.module.Function(k.Functions[i].Name)
		if err != nil {
			return nil, err
		}
		x.functions = append(x.functions, f)
	}
	return x, nil
}

// Shape is Kernel.Shape of the model's sizes and the open ones.
func (x *Loaded) Shape(open map[string]int) (*Shape, error) {
	all := maps.Clone(x.sizes)
	maps.Copy(all, open)
	return x.Kernel.Shape(all)
}

// Run enqueues the launches of a kernel. addresses are those of its buffers, in the order of
// Kernel.Buffers: as long as the shape says, and 0 for an optional one that is absent and for one
// without entries. An operand without entries is its source.
func (x *Loaded) Run(s *Shape, addresses []Address) error {
	return x.launches(s, addresses, func(f *Function, g Grid, args []Arg) error { return x.device.Launch(f, g, args...) })
}

// launches calls f for each launch of a kernel; the arguments are valid during the call.
func (x *Loaded) launches(s *Shape, addresses []Address, f func(*Function, Grid, []Arg) error) error {
	k := x.Kernel
	if len(addresses) != len(k.Buffers) {
		return fmt.Errorf("cuda: BUG: %d addresses for %d buffers of %s", len(addresses), len(k.Buffers), k.Name)
	}
	for i, a := range addresses {
		if b := &k.Buffers[i]; a == 0 && s.Lengths[i] > 0 && !b.Optional {
			return fmt.Errorf("cuda: BUG: no address for %s of %s", b.Name, k.Name)
		}
	}
	for i := range k.Functions {
		x.args = x.args[:0]
		for _, b := range k.Functions[i].buffers {
			if x := &k.Buffers[b]; x.Role == operandRole && s.Lengths[b] == 0 {
				b = x.source
			}
			x.args = append(x.args, Pointer(addresses[b]))
		}
		for _, n := range s.ints[i] {
			x.args = append(x.args, Int(n))
		}
		if err := f(x.functions[i], s.Grids[i], x.args); err != nil {
			return err
		}
	}
	return nil
}

// Unload frees the image.
func (x *Loaded) Unload() error { return x.module.Unload() }

// SizesText prints sizes, as in d_k=64 d_v=96.
func SizesText(sizes map[string]int) string {
	var out []string
	for _, s := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, fmt.Sprintf("%s=%d", s, sizes[s]))
	}
	return strings.Join(out, " ")
}
