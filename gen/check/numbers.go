package check

import (
	"fmt"
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Numbers that a page fixes have ranges. One that is used as a size, a window, a
// chunk or a number of rounds is an integer that a loop can count to; any other
// is one that float32 holds, since kernels compute in it.

const (
	// MaxSize is the largest size of an axis: what an index of 32 bits reaches.
	MaxSize = math.MaxInt32
	// MaxRounds is the largest number of rounds of an iteration, which is written
	// out round by round.
	MaxRounds = 64
	// MaxChunk is the most tokens of a chunk. What a strategy computes has arrays over
	// pairs of tokens of a chunk, and a test vector holds several dozens of them: some
	// gigabytes at this length.
	MaxChunk = 512
	// maxPower is the largest power of a size.
	maxPower = 16
)

// SizeHint says what to do about an expression that is not a size.
func SizeHint(e notation.Expr) string {
	names := false
	notation.Inspect(e, func(n any) bool {
		_, isName := n.(*notation.Ident)
		names = names || isName
		return true
	})
	if id, ok := e.(*notation.Ident); ok {
		return "declare it: dims " + id.Name.Text
	}
	if names {
		return fmt.Sprintf("a size is made of names that dims declares, integers up to %d, sums, products, quotients by an integer and powers up to %d", MaxSize, maxPower)
	}
	return fmt.Sprintf("a size is an integer between 1 and %d", MaxSize)
}

// counts refuses an option that a statement uses as a size or a number of rounds
// and that is no such number.
func (in *instancer) counts(st notation.Stmt) {
	size := func(e any) {
		notation.Inspect(e, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				in.count(id, "a size", MaxSize)
			}
			return true
		})
	}
	switch s := st.(type) {
	case *notation.Dims:
		for _, it := range s.Items {
			if it.Size != nil {
				size(it.Size)
			}
		}
	case *notation.Iterate:
		if s.Index == nil {
			if id, ok := s.Count.(*notation.Ident); ok {
				in.count(id, "a number of rounds", MaxRounds)
			}
		}
	}
	notation.Inspect(st, func(n any) bool {
		switch n := n.(type) {
		case *notation.Type:
			for _, s := range n.Shape {
				size(s)
			}
			if n.Kind == notation.IntType {
				in.ends(n)
			}
		case *notation.Call:
			if n.Fun.Text == "window" && len(n.Args) == 2 {
				size(n.Args[1])
			}
		case *notation.Binder:
			if id, ok := n.Range.(*notation.Ident); ok {
				size(id)
			}
		}
		return true
	})
}

// ends refuses a range of integers whose ends none can reach.
func (in *instancer) ends(t *notation.Type) {
	for _, e := range []notation.Expr{t.Lo, t.Hi} {
		if x, ok := notation.Constant(e); ok && !(x == math.Trunc(x) && math.Abs(x) <= MaxSize) {
			in.ds.Errorf(diag.BadType, e.Where(), "%s is not an end of a range of integers", notation.Print(e, notation.Unicode)).
				Hint("it is an integer of at most %d, or a size", MaxSize)
		}
	}
}

// count refuses an option that counts something and has no value that counts.
func (in *instancer) count(id *notation.Ident, what string, most int) {
	o := in.b.Options[id.Name.Text]
	if o == nil || slices.Contains(in.fractions, o) {
		return
	}
	x, known := notation.Constant(o.Value)
	if !known || x == math.Trunc(x) && 0 <= x && x <= float64(most) {
		return
	}
	in.fractions = append(in.fractions, o)
	in.ds.Errorf(diag.BadOption, o.Value.Where(), "option %s is used as %s, and %s is not an integer between 0 and %d", o.PageName(), what, notation.Print(o.Value, notation.Unicode), most).
		See(id.Span, "used here")
}

// inFloat32 refuses the value of an option that is not a number or that float32
// does not hold. ∞ is a value that an option may have.
func (in *instancer) inFloat32(name string, v notation.Expr) bool {
	x, known := notation.Constant(v)
	switch {
	case !known || math.IsInf(x, 0) && isInfinity(v) || math.Abs(x) <= math.MaxFloat32:
		return true
	case math.IsNaN(x):
		in.ds.Errorf(diag.BadOption, v.Where(), "option %s is not a number: %s is undefined", name, notation.Print(v, notation.Unicode))
	default:
		in.ds.Errorf(diag.BadOption, v.Where(), "option %s is beyond float32: %s is larger than 3.4e38", name, notation.Print(v, notation.Unicode)).
			Hint("kernels compute in float32; write ∞ where there is no bound")
	}
	return false
}

// isInfinity reports whether ∞ itself is written.
func isInfinity(e notation.Expr) bool {
	if u, ok := e.(*notation.Unary); ok {
		return isInfinity(u.X)
	}
	n, ok := e.(*notation.Number)
	return ok && math.IsInf(n.Value, 0)
}
