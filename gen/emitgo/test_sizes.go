package emitgo

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
)

// A Trial is what a generated test of a unit needs to know beside the unit:
// with which parts it is tested, and at which sizes.
//
// Sizes are awkward on purpose: neighbouring ones differ, so that a transposed
// or swapped axis cannot pass, and one, two, three, five and seven occur, so
// that no loop over three or four rows comes out even.
type Trial struct {
	Unit     *abi.Unit
	Of       abi.Applied      // the unit with its parts
	Name     string           // of the trial: the units in the order of the formula
	Sizes    []map[string]int // as the generated constructors take them
	Program  []map[string]int // as the inlined program names them
	Tokens   [][]int          // numbers of tokens, in step with Sizes
	Causal   bool
	Cuts     bool     // results depend on how tokens are cut into calls
	Mixed    bool     // an answer reads states before their write and after it
	Declared bool     // of an operation: the adjoint is not the derivative of the value
	Gates    []string // parameters whose gradient is stopped on the way
	File     string   // of the vectors, under testdata
}

// variants are the width of a composition, the sizes given in turn to the free
// sizes of a unit, and the one given to those that may be zero.
var variants = []struct {
	width int
	free  []int
	least int
}{
	{4, []int{3, 2, 5, 4}, 2},
	{3, []int{1, 5, 7, 3}, 0},
	{5, []int{5, 1, 2, 1}, 1},
}

// NewTrial chooses the sizes of a unit with its parts.
func NewTrial(units Units, of abi.Applied, name, file string) *Trial {
	t := &Trial{Of: of, Name: name, File: file}
	for i := range variants {
		s := t.sizes(units, i)
		t.Sizes = append(t.Sizes, s.emit)
		t.Program = append(t.Program, s.program)
		t.Tokens = append(t.Tokens, s.tokens())
	}
	return t
}

// sizes are those of one variant. Where a range of indices would be empty at
// them, the sizes of the table change places, and then grow.
func (t *Trial) sizes(units Units, variant int) *sizer {
	places := len(variants[variant].free)
	for try := 0; ; try++ {
		s := &sizer{units: units, variant: variant, given: try % places, times: 1 + try/places,
			emit: map[string]int{}, program: map[string]int{}}
		t.Unit = s.units.of(t.Of.Unit)
		if slices.ContainsFunc(t.Unit.Parts, func(p abi.Part) bool { return p.Count != "" }) {
			s.given++ // a unit key of one entry, the first size of a first rule, has no gradient but rounding
		}
		s.root(t.Unit, t.Of)
		if s.times > maxTimes || !slices.ContainsFunc(slices.Concat(t.Unit.Inputs, t.Unit.Consts), s.empty) {
			return s
		}
	}
}

// maxTimes is how much larger than in the table a size may become.
const maxTimes = 8

// A sizer gives out the sizes of one variant.
type sizer struct {
	units         Units
	variant       int
	given         int // sizes given so far
	times         int // what each is multiplied by
	emit, program map[string]int
	windows       []int
	chunks        []int
}

// next is a size for one that nothing decides.
func (s *sizer) next(z abi.Size) int {
	v := variants[s.variant]
	if z.Least == 0 {
		return v.least
	}
	s.given++
	return max(z.Least, s.times*v.free[(s.given-1)%len(v.free)])
}

// empty reports whether a value is an index and has no value at these sizes.
func (s *sizer) empty(v abi.Value) bool {
	if !v.HasRange {
		return false
	}
	lo, errLo := v.Lo.Eval(s.program)
	hi, errHi := v.Hi.Eval(s.program)
	return errLo == nil && errHi == nil && hi < lo
}

// root sizes the unit under test. One without parts takes every size from the
// table; one with parts has a width that its parts share.
func (s *sizer) root(u *abi.Unit, of abi.Applied) {
	own := map[string]int{}
	width := variants[s.variant].width
	if len(u.Parts) > 0 {
		width *= s.multiple(of)
	}
	switch {
	case len(u.Parts) == 0:
		for _, z := range free(u) {
			own[z.Name] = s.next(z)
			s.emit[z.Name] = own[z.Name]
		}
	case u.Kind == abi.ModelUnit:
		s.count(u, of, own)
		for _, z := range free(u) {
			if z.Counts != "" {
				continue
			}
			own[z.Name] = width
			if z.Name != modelWidth(u) {
				own[z.Name] = 2 + s.next(z)
			}
			s.emit[z.Name] = own[z.Name]
		}
	default:
		s.emit["width"] = width
		own = s.block(u, of, width, "")
	}
	for n, v := range own {
		s.program[n] = v
	}
	s.window(u, own)
	s.parts(u, of, width, "", "")
}

// block sizes a unit that must fit a width; its own choices go into the table
// under the prefix.
func (s *sizer) block(u *abi.Unit, of abi.Applied, width int, prefix string) map[string]int {
	own := map[string]int{}
	s.count(u, of, own)
	fixed := (&unitEmitter{u: u}).fixedSizes()
	factor := map[string]int{}
	for _, x := range fixed {
		factor[x.by] = x.times
	}
	for _, z := range free(u) {
		x, decided := fixed[z.Name]
		switch {
		case z.Counts != "":
			continue
		case decided && x.by == "":
			own[z.Name] = width
			continue
		case decided: // below, when the other factor is known
			continue
		case factor[z.Name] > 0:
			n := width / factor[z.Name]
			own[z.Name] = []int{divisor(n), 1, n}[s.variant]
		default:
			own[z.Name] = s.next(z)
		}
		s.emit[prefix+z.Name] = own[z.Name]
	}
	for _, z := range free(u) {
		if x := fixed[z.Name]; x.by != "" {
			own[z.Name] = width / (x.times * own[x.by])
		}
	}
	return own
}

// multiple is a number that the width of a unit with parts has to be a multiple of.
func (s *sizer) multiple(of abi.Applied) int {
	n := 1
	for _, x := range (&unitEmitter{u: s.units.of(of.Unit)}).fixedSizes() {
		n = max(n, x.times)
	}
	for _, p := range of.Parts {
		n = max(n, s.multiple(p))
	}
	return n
}

// divisor is the smallest divisor above one.
func divisor(n int) int {
	for d := 2; d < n; d++ {
		if n%d == 0 {
			return d
		}
	}
	return n
}

// parts sizes the parts. In the table a model's block has no name of its own,
// in the program it has.
func (s *sizer) parts(u *abi.Unit, of abi.Applied, width int, table, program string) {
	for _, p := range of.Parts {
		v := s.units.of(p.Unit)
		at := table
		if u.Named(u.PartOf(p)) {
			at += p.Part + "."
		}
		inside := program + p.Part + "."
		own := s.block(v, p, width, at)
		for n, x := range own {
			s.program[inside+n] = x
		}
		s.window(v, own)
		s.parts(v, p, width, at, inside)
	}
}

// count is how many parts a list has, for the size that counts them.
func (s *sizer) count(u *abi.Unit, of abi.Applied, own map[string]int) {
	for _, z := range free(u) {
		if z.Counts != "" {
			own[z.Name] = 0
			for _, p := range of.Parts {
				if strings.HasPrefix(p.Part, z.Counts+".") {
					own[z.Name]++
				}
			}
		}
	}
}

// window notes how far back a unit looks, for a tail is one shorter than its
// window, and how long its chunks are.
func (s *sizer) window(u *abi.Unit, own map[string]int) {
	if u.Chunk > 0 {
		s.chunks = append(s.chunks, u.Chunk)
	}
	for _, st := range u.States {
		if !st.Tail || len(st.Dims) == 0 {
			continue
		}
		if n, err := st.Dims[0].Eval(own); err == nil {
			s.windows = append(s.windows, n+1)
		}
	}
}

// tokens are one, two and five tokens, one more and one less than a window, and
// one chunk, one with a rest or two with a rest.
func (s *sizer) tokens() []int {
	out := []int{1, 2, 5}
	for _, w := range s.windows {
		for _, n := range []int{w - 1, w + 1} {
			if n > 0 {
				out = append(out, n)
			}
		}
	}
	for _, c := range s.chunks {
		out = append(out, []int{2*c + 3, c, c + 1}[s.variant])
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func free(u *abi.Unit) []abi.Size { return (&unitEmitter{u: u}).free() }
