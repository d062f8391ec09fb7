package sample

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Names of the axes of the batch and of the tokens in programs.
const (
	Batch  = "L"
	Tokens = "T"
)

// SizeNames lists the free sizes of a block's programs: first those of an axis, in the
// order of the axes, then those that only occur in other sizes, in the order of the
// block's axes. Names do not decide the order.
func SizeNames(blk *check.Block, fs ...*ir.Func) []string {
	var out, inner []string
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		for _, a := range f.Axes {
			if s, ok := a.Size.Symbol(); ok && !slices.Contains(out, s) {
				out = append(out, s)
			}
			inner = append(inner, a.Size.Symbols()...)
		}
		for _, in := range f.Body {
			inner = append(inner, in.Poly.Symbols()...)
			if in.Scan != nil {
				visit(in.Scan.Body)
			}
		}
	}
	for _, f := range fs {
		visit(f)
	}
	known := declaredSizes(blk, "")
	slices.SortStableFunc(inner, func(a, b string) int { return slices.Index(known, a) - slices.Index(known, b) })
	for _, s := range inner {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// declaredSizes are the axes of a block and of its parts in order, with their names in
// programs.
func declaredSizes(blk *check.Block, prefix string) []string {
	if blk == nil {
		return nil
	}
	var out []string
	for _, a := range blk.AxisSeq {
		out = append(out, prefix+ident.ASCII(a.Name))
	}
	for _, p := range blk.Parts {
		out = append(out, declaredSizes(p.Block, prefix+p.Name+".")...)
	}
	return out
}

// AssignSizes gives the batch and the tokens their sizes and cycles through widths for all
// other names, so that neighbouring axes have different sizes.
func AssignSizes(names []string, batch, sequence int, widths ...int) map[string]int {
	out := map[string]int{}
	i := 0
	for _, n := range names {
		switch lastName(n) {
		case Batch:
			out[n] = batch
		case Tokens:
			out[n] = sequence
		default:
			out[n] = widths[i%len(widths)]
			i++
		}
	}
	return out
}

// lastName is a name of a program without the part that it belongs to.
func lastName(n string) string { return n[strings.LastIndexByte(n, '.')+1:] }

// Sizes are the sizes at which programs are tested: two assignments that tell transposed and
// swapped axes apart. A deep proof adds edge cases, such as one token and widths of one and
// two, and each width in turn at 31.
func Sizes(blk *check.Block, deep bool, fs ...*ir.Func) []map[string]int {
	names := SizeNames(blk, fs...)
	sets := []map[string]int{AssignSizes(names, 2, 5, 3, 4, 2, 5), AssignSizes(names, 1, 3, 2, 3, 4, 1)}
	if !deep {
		return sets
	}
	sets = append(sets, AssignSizes(names, 1, 1, 1), AssignSizes(names, 2, 2, 2), AssignSizes(names, 1, 7, 5, 2, 1), AssignSizes(names, 3, 1, 1, 5, 2))
	for _, n := range names {
		if b := lastName(n); b != Batch && b != Tokens {
			s := AssignSizes(names, 1, 2, 2, 1)
			s[n] = 31
			sets = append(sets, s)
		}
	}
	return sets
}

// GrowingSizes are sizes in growing order, for the smallest counterexample.
func GrowingSizes(names []string) []map[string]int {
	return []map[string]int{AssignSizes(names, 1, 1, 1), AssignSizes(names, 1, 2, 1), AssignSizes(names, 1, 2, 2), AssignSizes(names, 1, 2, 2, 3), AssignSizes(names, 2, 5, 3, 4, 2, 5)}
}

// SizesText prints sizes for a message.
func SizesText(sizes map[string]int) string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, fmt.Sprintf("%s = %d", n, sizes[n]))
	}
	if len(out) == 0 {
		return "any size"
	}
	return strings.Join(out, ", ")
}

// TokenAxis is the position of a value's axis of tokens, or −1.
func TokenAxis(v *ir.Value) int {
	return slices.IndexFunc(v.Axes, func(a *ir.Axis) bool { s, ok := a.Size.Symbol(); return ok && s == Tokens })
}
