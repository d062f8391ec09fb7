package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Sizes are given to a program's free sizes by name. Neighbouring sizes differ,
// so that a transposed or swapped axis cannot pass; lanes and tokens get small
// numbers of their own. The deep sets add the awkward ones: one token, two,
// seven, widths of one and two, and each width in turn at 31.

// lanes and tokens are the names that check gives these two axes.
const (
	lanes  = "L"
	tokens = "T"
)

// sizeNames lists the free sizes of programs, in order.
func sizeNames(fs ...*ir.Func) []string {
	var out []string
	seen := map[string]bool{}
	add := func(syms []string) {
		for _, s := range syms {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		for _, a := range f.Axes {
			add(a.Size.Symbols())
		}
		for _, in := range f.Body {
			add(in.Poly.Symbols())
			if in.Scan != nil {
				visit(in.Scan.Body)
			}
		}
	}
	for _, f := range fs {
		visit(f)
	}
	return out
}

func setOf(names []string, l, t int, widths ...int) map[string]int {
	out := map[string]int{}
	i := 0
	for _, n := range names {
		switch base(n) {
		case lanes:
			out[n] = l
		case tokens:
			out[n] = t
		default:
			out[n] = widths[i%len(widths)]
			i++
		}
	}
	return out
}

// base is a size's name without the part that it belongs to.
func base(n string) string { return n[strings.LastIndexByte(n, '.')+1:] }

// sizeSets are the sizes at which programs are tested.
func sizeSets(deep bool, fs ...*ir.Func) []map[string]int {
	names := sizeNames(fs...)
	sets := []map[string]int{setOf(names, 2, 5, 3, 4, 2, 5), setOf(names, 1, 3, 2, 3, 4, 1)}
	if !deep {
		return sets
	}
	sets = append(sets, setOf(names, 1, 1, 1), setOf(names, 2, 2, 2), setOf(names, 1, 7, 5, 2, 1), setOf(names, 3, 1, 1, 5, 2))
	for _, n := range names {
		if b := base(n); b != lanes && b != tokens {
			s := setOf(names, 1, 2, 2, 1)
			s[n] = 31
			sets = append(sets, s)
		}
	}
	return sets
}

// growing are sizes from the smallest on, for a counterexample.
func growing(names []string) []map[string]int {
	return []map[string]int{setOf(names, 1, 1, 1), setOf(names, 1, 2, 1), setOf(names, 1, 2, 2), setOf(names, 1, 2, 2, 3), setOf(names, 2, 5, 3, 4, 2, 5)}
}

// spelled prints sizes for a message.
func spelled(sizes map[string]int) string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		out = append(out, fmt.Sprintf("%s = %d", n, sizes[n]))
	}
	if len(out) == 0 {
		return "any size"
	}
	return strings.Join(out, ", ")
}
