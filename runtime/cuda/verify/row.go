// Package verify holds the kernels of an archive to the same kernels in Go, with numbers of 64 bits:
// on fresh random inputs in the domains that pages declare, at sizes that are no multiples of what a
// block computes, with results that hold NaNs before. It knows kernels by the rows of the manifest alone.
package verify

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/runtime/cuda"
)

// ForwardBound and BackwardBound bound the norm of a result's error by the norm of the result. A
// backward adds up many more numbers. Where the same kernel in Go with numbers of 32 bits is off by more
// than a quarter of that, four times its error is the bound, up to largestBound.
const (
	ForwardBound  = 1e-5
	BackwardBound = 1e-4
	largestBound  = 1e-2
)

// A Row is what was found of a kernel with some sizes of the model.
type Row struct {
	Kernel    string   `json:"kernel"` // UNIT/NAME
	Page      string   `json:"page"`
	Equations []string `json:"equations"`
	Sizes     string   `json:"sizes"`
	Target    string   `json:"target"`
	Image     string   `json:"image"` // where it came from
	Calls     int      `json:"calls"` // at different numbers of tokens
	Worst     string   `json:"worst"` // the result whose error is nearest to its bound, and the number of tokens
	Error     float64  `json:"error"` // of that result
	Bound     float64  `json:"bound"`
	Verdict   Verdict  `json:"verdict"`
	Detail    string   `json:"detail,omitempty"` // why it failed, or which call was not compared
}

// A Verdict is what became of a kernel.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "ok"
	Wrong  Verdict = "wrong"  // a result is off by more than the bound
	Failed Verdict = "failed" // it did not run
)

// Options say what is verified. Kernels chooses by name, nil is all; Full is more sizes; BFloat16 is kernels
// with operands of products, which are in bfloat16 then, on both sides.
type Options struct {
	Kernels  *regexp.Regexp
	Full     bool
	BFloat16 bool
	Seed     uint64
}

// quick and full are the sizes of models. The first has key and value widths that differ and no
// multiple of 32 but one; a head has d_h features, and d is all of them.
var (
	quick = []map[string]int{{"d": 48, "d_k": 33, "d_v": 48, "H": 3, "d_h": 16, "n_p": 2, "w": 5, "V": 31}}
	full  = append(quick[:1:1],
		map[string]int{"d": 32, "d_k": 32, "d_v": 48, "H": 1, "d_h": 32, "n_p": 1, "w": 64, "V": 256},
		map[string]int{"d": 64, "d_k": 96, "d_v": 64, "H": 16, "d_h": 4, "n_p": 2, "w": 33, "V": 31},
		map[string]int{"d": 96, "d_k": 64, "d_v": 31, "H": 2, "d_h": 48, "n_p": 1, "w": 7, "V": 31},
		map[string]int{"d": 128, "d_k": 48, "d_v": 128, "H": 8, "d_h": 16, "n_p": 3, "w": 31, "V": 31})
)

// chosen are the kernels that are verified, each with its backward.
func (o *Options) chosen(l *cuda.Library) (out []string) {
	for _, name := range l.Names() {
		if !backwardOf(name) && (o.Kernels == nil || o.Kernels.MatchString(name)) && (!o.BFloat16 || hasOperands(l, name)) {
			out = append(out, name)
		}
	}
	return out
}

func hasOperands(l *cuda.Library, name string) bool {
	k, err := l.Kernel(name)
	if err != nil {
		return false
	}
	_, has := k.Defaults[cuda.BFloat16]
	return has
}

// Variants are the kernels that Run compiles, with their sizes.
func (o *Options) Variants(l *cuda.Library) (out []cuda.Variant, err error) {
	for _, name := range o.chosen(l) {
		for _, model := range o.models() {
			var kernels []*cuda.Kernel
			for _, n := range both(l, name) {
				k, err := l.Kernel(n)
				if err != nil {
					return nil, err
				}
				kernels = append(kernels, k)
			}
			sizes := o.sizesOf(model, kernels)
			for _, k := range kernels {
				constants, err := k.Constants(sizes)
				if err != nil {
					return nil, err
				}
				out = append(out, cuda.Variant{Kernel: k.Name, Sizes: constants})
			}
		}
	}
	return out, nil
}

// near is why results in bfloat16 may differ.
const near = "an operand that is computed may lie so near to the middle of two numbers of bfloat16 that the two sides round it differently"

// tries is how many inputs may be drawn for a call until its results agree, which the row then says; see near.
// That is rare: three in a row are an error.
func (o *Options) tries() int {
	if o.BFloat16 {
		return 3
	}
	return 1
}

// both are the names of a kernel and of its backward, if there is one.
func both(l *cuda.Library, name string) []string {
	back := name + "_backward"
	for _, last := range []string{"/forward", "/call"} { // of a function, and of an operation
		if unit, ok := strings.CutSuffix(name, last); ok {
			back = unit + "/backward"
		}
	}
	if slices.Contains(l.Names(), back) {
		return []string{name, back}
	}
	return []string{name}
}

// sizesOf are the sizes of a model for kernels: those of the table, and for letters that it does not
// have what the page says if that is small.
func (o *Options) sizesOf(model map[string]int, kernels []*cuda.Kernel) map[string]int {
	out := maps.Clone(model)
	if o.BFloat16 {
		out[cuda.BFloat16] = 1
	}
	for _, k := range kernels {
		for s, n := range k.Defaults {
			if _, ok := out[s]; !ok {
				out[s] = n
				if n > smallSize {
					out[s] = otherSize
				}
			}
		}
	}
	return out
}

// backwardOf reports whether a kernel is the backward of another one.
func backwardOf(name string) bool {
	return strings.HasSuffix(name, "_backward") || strings.HasSuffix(name, "/backward")
}

func (o *Options) models() []map[string]int {
	if o.Full {
		return full
	}
	return quick
}

// tokens are the numbers of tokens of calls; an operation without tokens has one size.
func (o *Options) tokens(k *cuda.Kernel) []int {
	switch {
	case len(k.Open) == 0:
		return []int{1}
	case o.Full:
		return []int{1, 7, 31, 33, 64, 65, 513}
	}
	return []int{1, 7, 65}
}

const (
	smallSize = 16 // the largest size of a page that is taken as it is,
	otherSize = 5  // and what takes the place of others

	deviation     = 0.25 // of the numbers that are drawn
	least         = 0.0625
	nearEdge      = 1e-7           // how near to the end of a range, as a share of it, where the end itself gives no numbers
	floor         = 1e-6           // see distance
	halvings      = 4              // of the scale of numbers, at most
	halfUlp       = 1. / (1 << 24) // of a number of 32 bits, as a share of it
	roundingShare = 4              // rounding to 32 bits alone may take a part of the bound: 1 of so many
)
