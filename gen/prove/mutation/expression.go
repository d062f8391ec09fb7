package mutation

import (
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// Mutants of single nodes of an expression. The tables say what a token is replaced by.

var otherOp = map[string]string{"+": "−", "−": "+", "⊙": "/", "/": "⊙", "·": "⊙"}

var otherFunc = map[string]string{"sigmoid": "tanh", "tanh": "sigmoid", "softplus": "exp", "max": "min", "min": "max", "exp": "expm1",
	"expm1": "exp", "log": "log1p", "log1p": "log", "sqrt": "exp", "erf": "tanh"}

var otherReduce = map[string]string{"Σ": "mean", "mean": "Σ", "logsumexp": "max", "max": "min", "min": "max", "softmax": "logsumexp"}

var otherRelation = map[string]string{"<": "≤", "≤": "<", ">": "≥", "≥": ">", "=": "≠", "≠": "="}

func (b *mutator) node(x notation.Expr) {
	switch x := x.(type) {
	case *notation.Number:
		b.number(x)
	case *notation.Ident:
		b.ident(x)
	case *notation.Unary:
		b.add("sign", source.Span{File: x.Span.File, Start: x.Span.Start, End: x.X.Where().Start}, "")
	case *notation.Binary:
		b.operator("operator", x.Op, otherOp[x.Op], x.X, x.Y)
		if x.Op == "−" || x.Op == "/" {
			b.swap("order", x.X, x.Y)
		}
	case *notation.Relation:
		b.operator("comparison", x.Op, otherRelation[x.Op], x.X, x.Y)
	case *notation.Juxt:
		b.row(x)
	case *notation.Transpose:
		b.add("transpose", source.Span{File: x.Span.File, Start: x.X.Where().End, End: x.Span.End}, "")
	case *notation.Power:
		b.add("factor", source.Span{File: x.Span.File, Start: x.X.Where().End, End: x.Span.End}, "")
	case *notation.Index:
		for i := 1; i < len(x.At); i++ {
			b.swap("index", x.At[i-1], x.At[i])
		}
	case *notation.Call:
		if other := otherFunc[x.Fun.Text]; other != "" {
			b.add("function", x.Fun.Span, other)
		}
		for i := 1; i < len(x.Args); i++ {
			b.swap("order", x.Args[i-1], x.Args[i])
		}
	case *notation.Reduce:
		b.reduce(x)
	case *notation.Piecewise:
		if len(x.Arms) > 1 {
			b.swap("order", x.Arms[0].Value, x.Arms[1].Value)
		}
	case *notation.Stack:
		for i := 1; i < len(x.Items); i++ {
			b.swap("order", x.Items[i-1], x.Items[i])
		}
	}
}

// operator replaces the operator between two nodes.
func (b *mutator) operator(kind, op, other string, x, y notation.Expr) {
	if other == "" {
		return
	}
	gap := between(x.Where(), y.Where())
	i := strings.Index(gap.Text(), op)
	if i < 0 {
		return
	}
	b.add(kind, source.Span{File: gap.File, Start: gap.Start + i, End: gap.Start + i + len(op)}, other)
}

// number doubles a number, and replaces zero by one.
func (b *mutator) number(x *notation.Number) {
	v := 2 * x.Value
	if v == 0 {
		v = 1
	}
	b.add("factor", x.Span, strconv.FormatFloat(v, 'g', -1, 64))
}

// ident reads a name at another token, or another name.
func (b *mutator) ident(x *notation.Ident) {
	text := x.Span.Text()
	switch {
	case strings.HasSuffix(text, "_{t−1}"):
		b.add("time", x.Span, strings.TrimSuffix(text, "_{t−1}")+"_t")
	case strings.HasSuffix(text, "_t"):
		b.add("time", x.Span, strings.TrimSuffix(text, "_t")+"_{t−1}")
	}
	if other := neighbour(b.names, x.Name.Text); other != "" && x.Time == nil {
		b.rename("name", x, other)
	}
}

// neighbour is the next of some names that has the same kind of suffix.
func neighbour(names []string, name string) string {
	timed := strings.HasSuffix(name, "_t")
	for i, n := range names {
		if n != name {
			continue
		}
		for k := 1; k < len(names); k++ {
			other := names[(i+k)%len(names)]
			if other != name && strings.HasSuffix(other, "_t") == timed {
				return other
			}
		}
	}
	return ""
}

// row drops a factor of a product, exchanges two, and transposes one.
func (b *mutator) row(x *notation.Juxt) {
	for i, it := range x.Items {
		at := it.Where()
		if i+1 < len(x.Items) {
			b.add("factor", source.Span{File: at.File, Start: at.Start, End: x.Items[i+1].Where().Start}, "")
			b.swap("order", it, x.Items[i+1])
		} else {
			b.add("factor", source.Span{File: at.File, Start: x.Items[i-1].Where().End, End: at.End}, "")
		}
		if id, ok := it.(*notation.Ident); ok {
			b.add("transpose", at, id.Span.Text()+"ᵀ")
		}
	}
}

func (b *mutator) reduce(x *notation.Reduce) {
	at := x.Span
	if other := otherReduce[x.Op]; other != "" && strings.HasPrefix(at.Text(), x.Op) {
		b.add("operator", source.Span{File: at.File, Start: at.Start, End: at.Start + len(x.Op)}, other)
	}
}

// binder runs an index over another axis.
func (b *mutator) binder(x *notation.Binder) {
	if id, ok := x.Range.(*notation.Ident); ok {
		if other := neighbour(b.axes, id.Name.Text); other != "" {
			b.add("axis", id.Span, other)
		}
	}
}
