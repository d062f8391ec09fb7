package program

import (
	"math"
	"strconv"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// A size that a page fixes is the size at which proofs and generated tests run; only
// a size that a constructor takes as an argument can be replaced by a smaller one. So
// fixed sizes are limited such that a unit is tested in about a minute.

const (
	maxFixedEntries = 1 << 16 // of what is learned or kept: every entry is drawn, and differences are taken of it
	maxFixedSteps   = 1 << 22 // of one instruction, which the interpreter runs some hundred times
)

// CheckSizes returns a program whose fixed sizes are within the limits; it reports an
// error and returns nil for others.
func CheckSizes(blk *check.Block, f *ir.Func, ds *diag.List) *ir.Func {
	if f == nil {
		return nil
	}
	for _, p := range f.Params {
		if n, ok := fixedPoints(p.Axes); !ok || n > maxFixedEntries {
			at := blk.Unit.Name.Span
			if s := symbolOf(blk, p.Name); s != nil {
				at = s.Span
			}
			series, _ := ir.WindowOf(p.Name)
			tooLarge(blk, p.Axes, at, series, "entries", n, maxFixedEntries, ok, ds)
			return nil
		}
	}
	if !checkLoops(blk, f, ds) {
		return nil
	}
	return f
}

func checkLoops(blk *check.Block, f *ir.Func, ds *diag.List) bool {
	for _, in := range f.Body {
		if n, ok := fixedPoints(in.Loops); !ok || n > maxFixedSteps {
			tooLarge(blk, in.Loops, in.Span, "what is computed here", "steps", n, maxFixedSteps, ok, ds)
			return false
		}
		if in.Scan != nil && !checkLoops(blk, in.Scan.Body, ds) {
			return false
		}
	}
	return true
}

// tooLarge refuses axes, at the option that sets the longest of them.
func tooLarge(blk *check.Block, axes []*ir.Axis, at source.Span, what, of string, n, most int, known bool, ds *diag.List) {
	count := "too many"
	if known {
		count = strconv.Itoa(n)
	}
	var set *check.Option
	for _, a := range axes {
		long := func(o *check.Option) float64 { x, _ := notation.Constant(o.Value); return x }
		if o := blk.Options[a.Name]; o != nil && (set == nil || long(o) > long(set)) {
			set = o
		}
	}
	used := at
	if set != nil {
		at = set.Value.Where()
	}
	d := ds.Errorf(diag.BadOption, at, "%s has %s %s at the sizes that the page fixes, and at most %d can be tested", what, count, of, most).
		Hint("leave a size to the constructor: dims without a number, or an option that no case and no when reads")
	if set != nil {
		d.See(used, "this").Hint("set a smaller number")
	}
}

// fixedPoints is the number of points of axes where every size that the page does not fix
// is one.
func fixedPoints(axes []*ir.Axis) (int, bool) {
	n := 1
	for _, a := range axes {
		least := map[string]int{}
		for _, s := range a.Size.Symbols() {
			least[s] = 1
		}
		m, err := a.Size.Eval(least)
		if err != nil || m > 0 && n > math.MaxInt/m {
			return 0, false
		}
		n *= max(m, 1)
	}
	return n, true
}

func symbolOf(blk *check.Block, name string) *check.Symbol {
	for _, s := range blk.SymSeq {
		if ident.ASCII(s.Name) == name {
			return s
		}
	}
	return nil
}
