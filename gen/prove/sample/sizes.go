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

// TokenAxis is the number of a value's axis of tokens, or −1.
func TokenAxis(v *ir.Value) int {
	return slices.IndexFunc(v.Axes, func(a *ir.Axis) bool { s, ok := a.Size.Symbol(); return ok && s == Tokens })
}

// Sizes are given to a program's free sizes in the order in which its axes have
// them. Neighbouring sizes differ, so that a transposed or swapped axis cannot
// pass; lanes and tokens get small numbers of their own. The deep sets add the awkward ones: one token, two,
// seven, widths of one and two, and each width in turn at 31.

// lanes and tokens are the names that check gives these two axes.
const (
	Batch  = "L"
	Tokens = "T"
)

// SizeNames lists the free sizes of a block's programs: first those that are an
// axis of their own, in the order of the axes, then those that only enter others,
// in the order of the block's. No name decides the order.
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

// declaredSizes are the axes of a block and of its parts in order, as programs
// spell them.
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

func AssignSizes(names []string, l, t int, widths ...int) map[string]int {
	out := map[string]int{}
	i := 0
	for _, n := range names {
		switch LastName(n) {
		case Batch:
			out[n] = l
		case Tokens:
			out[n] = t
		default:
			out[n] = widths[i%len(widths)]
			i++
		}
	}
	return out
}

// LastName is a size's name without the part that it belongs to.
func LastName(n string) string { return n[strings.LastIndexByte(n, '.')+1:] }

// Sizes are the sizes at which programs are tested.
func Sizes(blk *check.Block, deep bool, fs ...*ir.Func) []map[string]int {
	names := SizeNames(blk, fs...)
	sets := []map[string]int{AssignSizes(names, 2, 5, 3, 4, 2, 5), AssignSizes(names, 1, 3, 2, 3, 4, 1)}
	if !deep {
		return sets
	}
	sets = append(sets, AssignSizes(names, 1, 1, 1), AssignSizes(names, 2, 2, 2), AssignSizes(names, 1, 7, 5, 2, 1), AssignSizes(names, 3, 1, 1, 5, 2))
	for _, n := range names {
		if b := LastName(n); b != Batch && b != Tokens {
			s := AssignSizes(names, 1, 2, 2, 1)
			s[n] = 31
			sets = append(sets, s)
		}
	}
	return sets
}

// GrowingSizes are sizes from the smallest on, for a counterexample.
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
