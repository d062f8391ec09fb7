package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// The clauses of a declaration: `∈ …`, `= …`, `by level`, `per chunk` and so on. A clause is
// either read by a later stage or refused here; one that were accepted and ignored would
// make a page say what its code does not do.

// clausesOf are the clauses that a declaration may have, by its keyword.
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

// checkClauses refuses clauses that nothing reads.
func (r *resolver) checkClauses(s *notation.Declare) {
	before := r.ds.Len()
	for i, n := range s.Names {
		if i+1 < len(s.Names) && n.SharesClauses(s.Names[i+1]) {
			continue // several names share the clauses: the last one reports them
		}
		eachClause(n, func(clause string, at notation.Span) {
			if !slices.Contains(clausesOf[s.Keyword.Text], clause) {
				r.ds.Errorf(diag.NotSupported, at, "%s has no meaning after %s", clause, units.Article(s.Keyword.Text)).Hint("take it away")
			}
		})
	}
	if r.ds.Len() > before {
		return
	}
	for _, n := range s.Names {
		r.checkClauseValues(s.Keyword, n)
	}
}

// eachClause calls f for every clause of a declared name. Distributions are checked by
// checkStarts.
func eachClause(n *notation.DeclName, f func(clause string, at notation.Span)) {
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

// checkClauseValues checks the values of the clauses.
func (r *resolver) checkClauseValues(keyword notation.Word, n *notation.DeclName) {
	switch keyword.Text {
	case "const":
		r.constant(n)
	case "slot":
		if x, ok := notation.Constant(n.Init); n.Init == nil || !ok || x != 0 {
			r.ds.Errorf(diag.NotSupported, n.Name.Span, "slot %s does not begin at zero", n.Name.Text).Hint("write slot %s = 0", n.Name.Text)
		}
	case "outer":
		if a := attribute(n, "nograd"); a != nil && n.Reason == nil {
			r.ds.Errorf(diag.NotSupported, a.Span, "nograd of %s has no reason", n.Name.Text).Hint("say why: nograd \"…\"")
		}
		if a := attribute(n, "entrywise"); a != nil && (n.Type == nil || len(n.Type.Shape) != 2) {
			r.ds.Errorf(diag.NotSupported, a.Span, "%s is not a matrix, so every update changes it entry by entry", n.Name.Text).Hint("take entrywise away")
		}
	case "anchor":
		switch {
		case n.Of == nil:
			r.ds.Errorf(diag.NotSupported, n.Name.Span, "anchor %s does not say of which state it is", n.Name.Text).
				Hint("write anchor %s of M at context", n.Name.Text)
		case n.At == nil:
			r.ds.Errorf(diag.NotSupported, n.Name.Span, "anchor %s does not say when it is set", n.Name.Text).
				Hint("write anchor %s of %s at context", n.Name.Text, n.Of.Text)
		case n.At.Text != "context":
			r.ds.Errorf(diag.NotSupported, n.At.Span, "an anchor is set where its context begins, not at %s", n.At.Text).
				Hint("write at context; the value at the start of a call is a snap")
		}
	case "snap":
		if n.Of == nil && snapBase(n.Name.Text) == n.Name.Text {
			r.ds.Errorf(diag.NotSupported, n.Name.Span, "snap %s does not say of which state it is", n.Name.Text).
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

// constant checks a const: it needs a start.
func (r *resolver) constant(n *notation.DeclName) {
	switch {
	case n.Init == nil && n.Dist == nil:
		r.ds.Errorf(diag.NotSupported, n.Name.Span, "const %s has no start", n.Name.Text).
			Hint("write const %s ∈ … = 0.5, or ~ normal(0, 1) seed 7", n.Name.Text)
	case n.Dist != nil && n.Seed == nil:
		r.ds.Errorf(diag.NotSupported, n.Dist.Where(), "const %s is drawn without a seed", n.Name.Text).Hint("add seed 7 after it")
	case n.Seed != nil && n.Dist == nil:
		r.ds.Errorf(diag.NotSupported, n.Seed.Where(), "const %s has a seed and is not drawn", n.Name.Text).Hint("take it away")
	case n.Seed != nil && !isSeed(n.Seed):
		r.ds.Errorf(diag.NotSupported, n.Seed.Where(), "a seed is a whole number from 0 on")
	}
}

// maxSeed is the largest number up to which float64 has every integer.
const maxSeed = 1 << 53

func isSeed(e notation.Expr) bool {
	x, ok := notation.Constant(e)
	return ok && x >= 0 && x <= maxSeed && x == math.Trunc(x)
}

// checkStarts refuses the start of a parameter that is neither a distribution nor numbers.
func (r *resolver) checkStarts(s *notation.Declare) {
	for _, n := range s.Names {
		if n.Dist != nil && s.Keyword.Text != "outer" && s.Keyword.Text != "const" {
			r.ds.Errorf(diag.NotSupported, n.Dist.Where(), "only a learned parameter is drawn from a distribution, and %s is not learned", n.Name.Text).
				Hint("declare an outer, and start from it")
			continue
		}
		if s.Keyword.Text != "outer" && s.Keyword.Text != "const" {
			continue
		}
		if c, ok := n.Dist.(*notation.Call); ok {
			switch {
			case c.Fun.Text != "uniform" && c.Fun.Text != "normal":
				r.ds.Errorf(diag.NotAFunction, c.Fun.Span, "%s is not a distribution", c.Fun.Text).Hint("write ~ uniform(a, b) or ~ normal(m, s)")
			case len(c.Args) != 2:
				r.ds.Errorf(diag.WrongArity, c.Span, "%s takes 2 arguments, not %d", c.Fun.Text, len(c.Args)).
					Hint("write %s", map[string]string{"uniform": "uniform(a, b): between a and b", "normal": "normal(m, s): mean and deviation"}[c.Fun.Text])
			default:
				r.checkSizeConstants(c.Args...)
			}
		}
		r.checkSizeConstants(append(slices.Clone(n.ByLevel), n.Init)...)
	}
}

// checkSizeConstants refuses expressions that are not known when the sizes are.
func (r *resolver) checkSizeConstants(es ...notation.Expr) {
	for _, e := range es {
		if e != nil && !r.isSizeConstant(e) {
			r.ds.Errorf(diag.NotSupported, e.Where(), "%s is not a number computed from sizes", notation.Print(e, notation.Unicode)).
				Hint("a parameter starts from numbers, sizes, their sums, products and quotients, and sqrt")
		}
	}
}

func (r *resolver) isSizeConstant(e notation.Expr) bool {
	if _, ok := notation.Constant(e); ok {
		return true
	}
	switch e := e.(type) {
	case *notation.Ident:
		if o := r.b.Options[e.Name.Text]; o != nil {
			n, ok := notation.Constant(o.Value)
			return ok && !math.IsInf(n, 0)
		}
		return r.b.AxisOf(e.Name.Text) != nil
	case *notation.Unary:
		return r.isSizeConstant(e.X)
	case *notation.Juxt:
		return !slices.ContainsFunc(e.Items, func(x notation.Expr) bool { return !r.isSizeConstant(x) })
	case *notation.Binary:
		return slices.Contains([]string{"+", "−", "·", "/"}, e.Op) && r.isSizeConstant(e.X) && r.isSizeConstant(e.Y)
	case *notation.Call:
		return e.Fun.Text == "sqrt" && len(e.Args) == 1 && r.isSizeConstant(e.Args[0])
	}
	return false
}
