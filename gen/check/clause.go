package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// What a declaration says beside its name is either read by some later stage or
// refused here: a clause that is accepted and forgotten would make a page say
// what its code does not do.

// The clauses that a declaration may have, by its keyword.
var clausesOf = map[string][]string{
	"input":  {"∈"},
	"outer":  {"∈", "=", "by level", "nodecay", "entrywise", "nograd"},
	"gate":   {"∈", "=", "within"},
	"state":  {"∈", "=", "per chunk"},
	"weight": {"∈", "=", "per chunk"},
	"slot":   {"="},
	"const":  {"∈", "=", "seed"},
	"anchor": {"of", "at"},
	"snap":   {"of"},
	"option": {"∈", "=", "per chunk", "replicate"},
}

// clauses refuses what a declaration says and nothing reads.
func (in *instancer) clauses(s *notation.Declare) {
	before := in.ds.Len()
	for i, n := range s.Names {
		if i+1 < len(s.Names) && sharesWith(n, s.Names[i+1]) {
			continue // one node of several names: the last one reports it
		}
		written(n, func(clause string, at notation.Span) {
			if !slices.Contains(clausesOf[s.Keyword.Text], clause) {
				in.ds.Errorf(diag.NotSupported, at, "%s means nothing behind %s", clause, units.Article(s.Keyword.Text)).Hint("take it away")
			}
		})
	}
	if in.ds.Len() > before {
		return
	}
	for _, n := range s.Names {
		in.clausesOf(s.Keyword, n)
	}
}

// sharesWith reports whether two names of a declaration have one set of
// clauses.
func sharesWith(n, m *notation.DeclName) bool {
	return n.Type == m.Type && n.Init == m.Init && n.Dist == m.Dist && n.Of == m.Of && slices.Equal(n.Attrs, m.Attrs)
}

// written calls f for every clause of a declared name. (A start that is drawn is
// looked at with the starts.)
func written(n *notation.DeclName, f func(clause string, at notation.Span)) {
	if n.Type != nil {
		f("∈", n.Type.Span)
	}
	switch {
	case len(n.ByLevel) > 0:
		f("by level", n.ByLevel[0].Where())
	case n.Init != nil:
		f("=", n.Init.Where())
	}
	if n.Within != nil {
		f("within", n.Within.Span)
	}
	if n.Of != nil {
		f("of", n.Of.Span)
	}
	if n.At != nil {
		f("at", n.At.Span)
	}
	if n.Seed != nil {
		f("seed", n.Seed.Where())
	}
	for _, a := range n.Attrs {
		f(a.Text, a.Span)
	}
}

// clausesOf looks at the values of the clauses.
func (in *instancer) clausesOf(keyword notation.Word, n *notation.DeclName) {
	switch keyword.Text {
	case "const":
		in.constant(n)
	case "slot":
		in.slot(n)
	case "outer":
		if a := attribute(n, "nograd"); a != nil && n.Reason == nil {
			in.ds.Errorf(diag.NotSupported, a.Span, "nograd of %s has no reason", n.Name.Text).Hint("say why: nograd \"…\"")
		}
		if a := attribute(n, "entrywise"); a != nil && (n.Type == nil || len(n.Type.Shape) != 2) {
			in.ds.Errorf(diag.NotSupported, a.Span, "%s is no matrix, so every update moves it entry by entry", n.Name.Text).Hint("take entrywise away")
		}
	case "anchor":
		switch {
		case n.Of == nil:
			in.ds.Errorf(diag.NotSupported, n.Name.Span, "anchor %s does not say of which state it is", n.Name.Text).
				Hint("write anchor %s of M at context", n.Name.Text)
		case n.At == nil:
			in.ds.Errorf(diag.NotSupported, n.Name.Span, "anchor %s does not say when it is set", n.Name.Text).
				Hint("write anchor %s of %s at context", n.Name.Text, n.Of.Text)
		case n.At.Text != "context":
			in.ds.Errorf(diag.NotSupported, n.At.Span, "an anchor is set where its context begins, not at %s", n.At.Text).
				Hint("write at context; the value at the start of a call is a snap")
		}
	case "snap":
		if n.Of == nil && snapped(n.Name.Text) == n.Name.Text {
			in.ds.Errorf(diag.NotSupported, n.Name.Span, "snap %s does not say of which state it is", n.Name.Text).
				Hint("write snap M°, or snap %s of M", n.Name.Text)
		}
	}
}

func attribute(n *notation.DeclName, word string) *notation.Word {
	for _, a := range n.Attrs {
		if a.Text == word {
			return a
		}
	}
	return nil
}

// constant looks at a const: it is the block's own, so it has a start.
func (in *instancer) constant(n *notation.DeclName) {
	switch {
	case n.Init == nil && n.Dist == nil:
		in.ds.Errorf(diag.NotSupported, n.Name.Span, "const %s has no start, and nobody gives it one", n.Name.Text).
			Hint("write const %s ∈ … = 0.5, or ~ normal(0, 1) seed 7", n.Name.Text)
	case n.Dist != nil && n.Seed == nil:
		in.ds.Errorf(diag.NotSupported, n.Dist.Where(), "const %s is drawn without a seed", n.Name.Text).Hint("write seed 7 behind it")
	case n.Seed != nil && n.Dist == nil:
		in.ds.Errorf(diag.NotSupported, n.Seed.Where(), "const %s has a seed and is not drawn", n.Name.Text).Hint("take it away")
	case n.Seed != nil && !isSeed(n.Seed):
		in.ds.Errorf(diag.NotSupported, n.Seed.Where(), "a seed is a whole number from 0 on")
	}
}

// maxSeed is the largest number up to which float64 has every whole one.
const maxSeed = 1 << 53

func isSeed(e notation.Expr) bool {
	x, ok := notation.Constant(e)
	return ok && x >= 0 && x <= maxSeed && x == math.Trunc(x)
}
