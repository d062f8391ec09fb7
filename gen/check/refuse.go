package check

import (
	"math"
	"slices"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// What would be read and then mean nothing, or mean two things, is refused: a
// size of nothing, a name that is an axis and something else, a start that is
// no distribution, a part of a kind that there is not.

// leastSize refuses an axis without entries. A size that a constructor gives is
// its business.
func (in *instancer) leastSize(it *notation.DimsItem, a *Axis) {
	if n, ok := a.Size.Const(); ok && n < 1 && !a.Free {
		in.ds.Errorf(diag.UnknownAxis, it.Size.Where(), "%s is not a size", notation.Print(it.Size, notation.Unicode)).
			Labelf("an axis has at least one entry").See(it.Name.Span, "the axis")
	}
}

// given are the axes that no page declares.
var givenAxes = map[string]string{"T": "the tokens of a call", "L": "the lanes of a call"}

// ownAxis refuses a dims line for an axis that always exists.
func (in *instancer) ownAxis(it *notation.DimsItem) bool {
	what := givenAxes[it.Name.Text]
	if what != "" {
		in.ds.Errorf(diag.DuplicateName, it.Name.Span, "%s is the axis of %s and always there", it.Name.Text, what).
			Hint("give the axis another name")
	}
	for _, p := range units.PartsOf(in.b.Unit) {
		if p.List != nil && p.List.Text == it.Name.Text {
			in.ds.Errorf(diag.DuplicateName, it.Name.Span, "%s counts the parts of %s already", it.Name.Text, p.Name.Text).See(p.Span, "declared here").
				Hint("leave it out here")
			return false
		}
	}
	return what == ""
}

// inputCount is how many inputs the callers of a unit give it.
var inputCount = map[notation.UnitKind]int{notation.RuleUnit: 1, notation.ComposeUnit: 1, notation.ModelUnit: 2}

// Inputs refuses inputs that no caller of an emitted unit gives.
func (b *Block) Inputs() (ds diag.List) {
	n := 0
	for _, s := range b.SymSeq {
		if s.Kind != Input {
			continue
		}
		most, limited := inputCount[b.Unit.Kind]
		if n++; !limited || n <= most {
			continue
		}
		d := ds.Errorf(diag.NotSupported, s.Span, "%s has more than %s", b.Unit.Name.Text, [...]string{1: "one input", 2: "two inputs"}[most])
		if most == 1 {
			d.Hint("a rule or a composition reads one sequence of tokens: make %s a part of each token, or compute it with an equation", s.Name)
		} else {
			d.Hint("a model reads the ids of its tokens and those of the next ones")
		}
	}
	return ds
}

// partKinds are the kinds of pages that a part can be.
var partKinds = []string{"Rule", "Composition", "Block"}

// partKind refuses a part of a kind that no page has.
func (in *instancer) partKind(u *notation.Unit, p *notation.Param) bool {
	switch {
	case u.Kind == notation.StrategyUnit:
		return true
	case u.Kind != notation.ComposeUnit && u.Kind != notation.ModelUnit:
		in.ds.Errorf(diag.NotHere, p.Name.Span, "parts stand in compositions and models alone, and %s is %s", u.Name.Text, units.KindName(u.Kind))
	case !slices.Contains(partKinds, p.Type.Page.Text):
		in.ds.Errorf(diag.WrongPageKind, p.Type.Page.Span, "%s is no kind of part", p.Type.Page.Text).Hint("a part is a Rule, a Composition, or a Block, which may be either")
	default:
		return true
	}
	return false
}

// axisNames refuses names of values that are names of axes too: what one of
// them means in an equation would depend on which is looked up first. Where the
// unit introduces axes in its header, those count.
func (in *instancer) axisNames() {
	for _, s := range in.srcs {
		mine := Signature(s.Unit.Params)
		for _, st := range s.Body {
			if d, ok := st.(*notation.Dims); ok {
				for _, it := range d.Items {
					mine[it.Name.Text] = true
					for _, f := range it.Factors {
						mine[f.Text] = true
					}
				}
			}
		}
		for _, st := range s.Body {
			in.localNames(st, mine)
		}
		if s.Unit.Result != nil {
			in.localNames(s.Unit.Result, mine)
		}
	}
	for _, s := range in.b.SymSeq {
		in.notAnAxis(notation.Word{Span: s.Span, Text: s.Name}, in.b.Axes[s.Name] != nil || s.Unit.Kind == notation.OpUnit && Signature(s.Unit.Params)[s.Name])
	}
}

// localNames looks at the parameters, local names and indices of a statement.
func (in *instancer) localNames(st notation.Stmt, axes map[string]bool) {
	d, _ := st.(*notation.Define)
	if d != nil && d.Target.IsFunc {
		axes = signature(d.Target.Params, axes)
		for _, p := range d.Target.Params {
			in.notAnAxis(p.Name, axes[p.Name.Text])
		}
	}
	notation.Inspect(st, func(n any) bool {
		switch n := n.(type) {
		case *notation.Binder:
			in.notAnAxis(n.Name, axes[n.Name.Text])
		case *notation.Define:
			if n != d {
				in.notAnAxis(n.Target.Name.Name, axes[n.Target.Name.Name.Text])
			}
		}
		return true
	})
}

func (in *instancer) notAnAxis(w notation.Word, is bool) {
	if is {
		in.ds.Errorf(diag.DuplicateName, w.Span, "%s is the name of an axis, and of something else here", w.Text).
			Hint("the name of an axis is its size; rename one of the two")
	}
}

// signature adds the axes that the types of parameters name.
func signature(ps []*notation.Param, axes map[string]bool) map[string]bool {
	out := map[string]bool{}
	for a := range axes {
		out[a] = true
	}
	for _, p := range ps {
		notation.Inspect(p.Type, func(n any) bool {
			if id, ok := n.(*notation.Ident); ok {
				out[id.Name.Text] = true
			}
			return true
		})
	}
	return out
}

// Signature is the set of axes that the types of parameters name.
func Signature(ps []*notation.Param) map[string]bool { return signature(ps, nil) }

// start refuses the start of a parameter that says nothing about a number.
func (in *instancer) start(s *notation.Declare) {
	for _, n := range s.Names {
		if n.Dist != nil && s.Keyword.Text != "outer" && s.Keyword.Text != "const" {
			in.ds.Errorf(diag.NotSupported, n.Dist.Where(), "only a learned parameter is drawn from a distribution, and %s is none", n.Name.Text).
				Hint("declare an outer, and start from it")
			continue
		}
		if s.Keyword.Text != "outer" && s.Keyword.Text != "const" {
			continue
		}
		if c, ok := n.Dist.(*notation.Call); ok {
			switch {
			case c.Fun.Text != "uniform" && c.Fun.Text != "normal":
				in.ds.Errorf(diag.NotAFunction, c.Fun.Span, "%s is no distribution", c.Fun.Text).Hint("write ~ uniform(a, b) or ~ normal(m, s)")
			case len(c.Args) != 2:
				in.ds.Errorf(diag.WrongArity, c.Span, "%s takes 2 arguments, not %d", c.Fun.Text, len(c.Args)).
					Hint("write %s", map[string]string{"uniform": "uniform(a, b): between a and b", "normal": "normal(m, s): mean and deviation"}[c.Fun.Text])
			default:
				in.ofSizes(c.Args...)
			}
		}
		in.ofSizes(append(slices.Clone(n.ByLevel), n.Init)...)
	}
}

// ofSizes refuses numbers that are not known when the sizes are.
func (in *instancer) ofSizes(es ...notation.Expr) {
	for _, e := range es {
		if e != nil && !in.ofSize(e) {
			in.ds.Errorf(diag.NotSupported, e.Where(), "%s is no number of sizes", notation.Print(e, notation.Unicode)).
				Hint("a parameter starts from numbers, sizes, their sums, products and quotients, and sqrt")
		}
	}
}

func (in *instancer) ofSize(e notation.Expr) bool {
	if _, ok := notation.Constant(e); ok {
		return true
	}
	switch e := e.(type) {
	case *notation.Ident:
		if o := in.b.Options[e.Name.Text]; o != nil {
			n, ok := notation.Constant(o.Value)
			return ok && !math.IsInf(n, 0)
		}
		return in.b.AxisOf(e.Name.Text) != nil
	case *notation.Unary:
		return in.ofSize(e.X)
	case *notation.Juxt:
		return !slices.ContainsFunc(e.Items, func(x notation.Expr) bool { return !in.ofSize(x) })
	case *notation.Binary:
		return slices.Contains([]string{"+", "−", "·", "/"}, e.Op) && in.ofSize(e.X) && in.ofSize(e.Y)
	case *notation.Call:
		return e.Fun.Text == "sqrt" && len(e.Args) == 1 && in.ofSize(e.Args[0])
	}
	return false
}

// defaults refuses an option whose own page starts it outside of its set.
func (in *instancer) defaults() {
	for _, s := range in.srcs {
		for _, st := range s.Body {
			d, ok := st.(*notation.Declare)
			if !ok || d.Keyword.Text != "option" {
				continue
			}
			for _, n := range d.Names {
				if n.Init != nil && !in.inFloat32(n.Name.Text, n.Init) {
					continue
				}
				if n.Type != nil && n.Init != nil && !member(n.Type, n.Init) {
					in.ds.Errorf(diag.BadOption, n.Init.Where(), "%s = %s is outside %s", n.Name.Text, notation.Print(n.Init, notation.Unicode), notation.Print(n.Type, notation.Unicode)).
						See(n.Type.Span, "declared here")
				}
			}
		}
	}
}
