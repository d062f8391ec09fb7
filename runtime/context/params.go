package context

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// The errors of a ParamSet.
var (
	ErrDuplicate = errors.New("context: parameter declared twice")
	ErrNoParam   = errors.New("context: no such parameter")
	ErrWriter    = errors.New("context: the set already has a writer")
)

// InitKind says how a parameter begins.
type InitKind uint8

// The kinds. The zero kind is invalid.
const (
	_        InitKind = iota
	Constant          // every element A
	Uniform           // uniform in [A, B)
	Normal            // normal with mean A and standard deviation B
	Values            // List, one value per element
)

// An Init describes the first values of a parameter. One with a Stream is drawn
// from that stream's name and its own Seed, whatever the seed of the set and
// the prefix of the parameter's name.
type Init struct {
	Kind   InitKind
	A, B   float64
	List   []float64
	Stream string
	Seed   uint64
}

// String prints an Init as a page writes it, such as uniform(-0.125, 0.125).
func (i Init) String() string {
	if i.Stream != "" {
		return fmt.Sprintf("%s seed %d", i.start(), i.Seed)
	}
	return i.start()
}

func (i Init) start() string {
	switch i.Kind {
	case Constant:
		return fmt.Sprint(i.A)
	case Uniform:
		return fmt.Sprintf("uniform(%v, %v)", i.A, i.B)
	case Normal:
		return fmt.Sprintf("normal(%v, %v)", i.A, i.B)
	case Values:
		return fmt.Sprint(i.List)
	}
	return fmt.Sprintf("invalid init %d", uint8(i.Kind))
}

// A Param says what one outer parameter is. NoDecay keeps weight decay off. One
// that is Entrywise is no map, whatever its shape: an update of matrices leaves
// it to the update of entries that its page names. One that is Fixed has no
// gradient, and no update moves it.
type Param struct {
	Name      string
	Shape     tensor.Shape
	NoDecay   bool
	Entrywise bool
	Fixed     bool
	Level     int  // of the schedule: it moves when the level is updated
	Gated     bool // which a gate of the page decides, not the pulse
	Init      Init
}

// A ParamSet is the ordered table of a model's outer parameters. The same
// table drives the forward, the update, the checkpoint and the reports.
type ParamSet[F num.Float] struct {
	level   int // of what is added
	gated   bool
	params  []Param
	data    [][]F
	byName  map[string]int
	version uint64
	writer  bool
	order   []int        // in the memory of a device; nil on the host
	vectors func() [][]F // makes vectors there as long as the parameters
}

// Add appends a parameter of zeros; Fill initialises it. The error
// wraps ErrDuplicate, tensor.ErrShape, or says what is wrong with the init.
func (s *ParamSet[F]) Add(p Param) error {
	n, err := p.Shape.Size()
	if err != nil {
		return fmt.Errorf("parameter %s: %w", p.Name, err)
	}
	if _, ok := s.byName[p.Name]; ok {
		return fmt.Errorf("%w: %s", ErrDuplicate, p.Name)
	}
	if p.Init.Kind < Constant || p.Init.Kind > Values {
		return fmt.Errorf("context: parameter %s: %v", p.Name, p.Init)
	}
	if p.Init.Kind == Values && len(p.Init.List) != n {
		return fmt.Errorf("context: parameter %s: %d initial values for shape %v: %w", p.Name, len(p.Init.List), p.Shape, tensor.ErrShape)
	}
	if s.byName == nil {
		s.byName = map[string]int{}
	}
	s.byName[p.Name] = len(s.params)
	p.Level, p.Gated = s.level, s.gated
	s.params = append(s.params, p)
	s.data = append(s.data, tensor.Make[F](n))
	return nil
}

// AtLevel runs f; what it adds are parameters of a level, which is updated when the pulse
// says so, or when a gate of the page was open.
func (s *ParamSet[F]) AtLevel(level int, gated bool, f func() error) error {
	wasLevel, wasGated := s.level, s.gated
	s.level, s.gated = level, gated
	defer func() { s.level, s.gated = wasLevel, wasGated }()
	return f()
}

// ByLevel is the number of the present level; levels beyond the list have its
// last one.
func (s *ParamSet[F]) ByLevel(list ...float64) float64 {
	return list[min(s.level, len(list)-1)]
}

// EachLevel is one number for each of n levels; levels beyond the list have its
// last one.
func EachLevel(n int, list ...float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = list[min(i, len(list)-1)]
	}
	return out
}

// Fill sets every parameter to its first values. Random ones come from a
// stream of the parameter's name and the seed, so the order does not matter;
// those with a stream of their own come from that.
func (s *ParamSet[F]) Fill(seed uint64) {
	for i, p := range s.params {
		d := s.data[i]
		switch p.Init.Kind {
		case Constant:
			for j := range d {
				d[j] = F(p.Init.A)
			}
		case Uniform:
			num.FillUniform(d, p.stream(seed), p.Init.A, p.Init.B)
		case Normal:
			num.FillNormal(d, p.stream(seed), p.Init.A, p.Init.B)
		case Values:
			for j, x := range p.Init.List {
				d[j] = F(x)
			}
		default:
			panic("context: BUG: Add let an invalid init through")
		}
	}
	s.version++
}

// Move puts all parameters into memory of a device. vectors makes a vector for each, which lie there
// one after another in the order that is given; the writer, who has not written yet, has some of its own.
func (s *ParamSet[F]) Move(order []int, vectors func() [][]F) {
	to := vectors()
	device.CopyAll(to, s.data)
	s.data, s.order, s.vectors = to, order, vectors
	s.version++
}

func (p Param) stream(seed uint64) *num.Stream {
	if p.Init.Stream != "" {
		return num.NewStream(p.Init.Stream, p.Init.Seed)
	}
	return num.NewStream(p.Name, seed)
}

// View returns the set to read.
func (s *ParamSet[F]) View() View[F] { return View[F]{s} }

// Writer returns the one writer of the set; the update holds it. A second call
// before Close returns ErrWriter.
func (s *ParamSet[F]) Writer() (*Writer[F], error) {
	if s.writer {
		return nil, ErrWriter
	}
	s.writer = true
	return &Writer[F]{set: s}, nil
}

// A View reads a ParamSet; a forward is given one. The slices it returns are
// read-only by contract: cmd/hecatevet looks, and tests compare Hash before and
// after.
type View[F num.Float] struct{ set *ParamSet[F] }

// Len returns the number of parameters.
func (v View[F]) Len() int { return len(v.set.params) }

// Param returns what parameter i is.
func (v View[F]) Param(i int) Param { return v.set.params[i] }

// Name returns the name of parameter i.
func (v View[F]) Name(i int) string { return v.set.params[i].Name }

// Data returns the elements of parameter i, not to be written.
//
//hecate:readonly
func (v View[F]) Data(i int) []F { return v.set.data[i] }

// Index returns the place of a parameter, or an error that wraps ErrNoParam.
func (v View[F]) Index(name string) (int, error) {
	i, ok := v.set.byName[name]
	if !ok {
		return 0, fmt.Errorf("%w: %s", ErrNoParam, name)
	}
	return i, nil
}

// Size returns the number of elements of all parameters.
func (v View[F]) Size() (n int) {
	for _, d := range v.set.data {
		n += len(d)
	}
	return n
}

// Version counts the updates since the set was made.
func (v View[F]) Version() uint64 { return v.set.version }

// Hash returns FNV-1a over the bits of every element in order.
func (v View[F]) Hash() uint64 {
	h := fnv.New64a()
	var b [8]byte
	for _, d := range v.set.data {
		for _, x := range d {
			binary.LittleEndian.PutUint64(b[:], math.Float64bits(float64(x)))
			h.Write(b[:])
		}
	}
	return h.Sum64()
}

// A Writer changes a ParamSet, one whole update at a time.
//
//hecate:writer
//hecate:nozero
type Writer[F num.Float] struct {
	set  *ParamSet[F]
	next [][]F // by parameter: what an update computes; nil before the first
	a, b [][]F // of a device: data and next in order
}

// writerClosed is the panic message of a Writer used after Close.
const writerClosed = "context: writer used after Close"

// Update calls f once per parameter that is not fixed, in order, with its
// elements to change in place, and counts one version. What f changes is the
// set's when f has returned for all of them, and not before; where f panics the
// set is as it was.
func (w *Writer[F]) Update(f func(i int, p Param, data []F)) {
	w.write(false, f)
}

// Restore is Update of what was saved: the fixed parameters too.
func (w *Writer[F]) Restore(f func(i int, p Param, data []F)) {
	w.write(true, f)
}

// Close ends the writer; the set can have another one.
func (w *Writer[F]) Close() {
	if w.set != nil {
		w.set.writer = false
		w.set = nil
	}
}
