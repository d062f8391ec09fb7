package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// How what a formula says is made: by the registry at run time, and written out in
// the tests of one unit.

// making is the part of the registry that no page decides.
const making = `// Pages are the pages that a formula can name.
func Pages() formula.Table { return pages }

// NewModel makes a model of a formula, such as Model(Composition(Rule, Rule(option = 2))),
// or of the name of a model. The sizes of parts carry their names: attention.H,
// memory.2.d_k of a list's third part or memory.d_k of all. It fails with a
// *formula.Error, and for a size that is missing, impossible or means nothing.
func NewModel[F num.Float](text string, s block.Sizes) (block.Model[F], error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	n, err := pages.Bind(f, formula.Model)
	if err != nil {
		return nil, err
	}
	m := makeModel[F](n, s)
	return m, s.Err()
}

// NewBlock makes a rule, composition or schedule of a formula, for vectors of the
// given width. It fails as NewModel does.
func NewBlock[F num.Float](text string, s block.Sizes, width int) (block.Block[F], error) {
	return newBlock[F](text, formula.Block, s, width)
}

// NewRule makes a memory rule, or a schedule of rules, of a formula, for vectors of
// the given width. It fails as NewModel does.
func NewRule[F num.Float](text string, s block.Sizes, width int) (block.Block[F], error) {
	return newBlock[F](text, formula.Rule, s, width)
}

func newBlock[F num.Float](text, kind string, s block.Sizes, width int) (block.Block[F], error) {
	f, err := formula.Parse(text)
	if err != nil {
		return nil, err
	}
	n, err := pages.Bind(f, kind)
	if err != nil {
		return nil, err
	}
	b := makeBlock[F](n, s, width)
	return b, s.Err()
}

// part makes the page in the place of a part.
func part[F num.Float](n *formula.Node, s block.Sizes, width int, name string) block.Block[F] {
	if !n.Bare(name) {
		s = s.Part(name)
	}
	return makeBlock[F](n.Part(name)[0], s, width)
}

// list makes the pages in the places of a list of parts.
func list[F num.Float](n *formula.Node, s block.Sizes, width int, name string) []block.Block[F] {
	var out []block.Block[F]
	for i, m := range n.Part(name) {
		out = append(out, makeBlock[F](m, s.Part(fmt.Sprintf("%s.%d", name, i)), width))
	}
	return out
}

`

// An instanceEmitter prints the construction of one instance.
type instanceEmitter struct {
	units []*plan.Unit
	b     *strings.Builder
	n     int
}

func (e *instanceEmitter) unit(name string) *plan.Unit {
	for _, u := range e.units {
		if u.Name == name {
			return u
		}
	}
	panic("emitgo: BUG: an instance of an unknown unit " + name)
}

// modelWidth is the size that a model's parts work on: the last dimension of
// what its first call of a part receives.
func modelWidth(u *plan.Unit) string {
	for _, st := range u.Stages {
		if st.Part != "" {
			for _, made := range u.Stages {
				if made.Fwd == nil {
					continue
				}
				if b := made.Fwd.Result(st.Arg); b != nil {
					if s, ok := b.Dims[len(b.Dims)-1].Symbol(); ok {
						return s
					}
				}
			}
		}
	}
	panic("emitgo: BUG: model " + u.Name + " has no width")
}

// block makes one part; its parts are made first. Sizes of a model's block
// carry no name of their own, as its parameters do not.
func (e *instanceEmitter) block(a plan.Applied, sizes string) string {
	u := e.unit(a.Unit)
	_, pkg := Package(u)
	e.n++
	v := fmt.Sprintf("%s%d", argName(pkg), e.n)
	parts := e.parts(u, a, sizes)
	for _, name := range sortedKeys(a.Sizes) {
		sizes = fmt.Sprintf("%s.Default(%q, %d)", sizes, name, a.Sizes[name])
	}
	fmt.Fprintf(e.b, "\t\t%s := %s.New[F](%s)\n", v, pkg, strings.Join(append([]string{sizes, "width"}, parts...), ", "))
	return v
}

// parts makes the parts of a unit, a list of parts as one argument.
func (e *instanceEmitter) parts(u *plan.Unit, a plan.Applied, sizes string) []string {
	var args []string
	for _, q := range u.Parts {
		var made []string
		for _, p := range a.Parts {
			if p.Part == q.Name || q.Count != "" && strings.HasPrefix(p.Part, q.Name+".") {
				own := sizes
				if u.Named(q) {
					own = fmt.Sprintf("%s.Part(%q)", sizes, p.Part)
				}
				made = append(made, e.block(p, own))
			}
		}
		arg := strings.Join(made, ", ")
		if q.Count != "" {
			arg = fmt.Sprintf("[]block.Block[F]{%s}", arg)
		}
		args = append(args, arg)
	}
	return args
}

func sortedKeys(m map[string]int) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// formula prints a unit with its parts and the sizes that it sets.
func formula(a plan.Applied) string {
	var args []string
	for i := 0; i < len(a.Parts); i++ {
		list, _, isList := strings.Cut(a.Parts[i].Part, ".")
		if !isList {
			args = append(args, formula(a.Parts[i]))
			continue
		}
		var members []string
		for ; i < len(a.Parts) && strings.HasPrefix(a.Parts[i].Part, list+"."); i++ {
			members = append(members, formula(a.Parts[i]))
		}
		i--
		args = append(args, "["+strings.Join(members, ", ")+"]")
	}
	for _, name := range sortedKeys(a.Sizes) {
		args = append(args, fmt.Sprintf("%s = %d", name, a.Sizes[name]))
	}
	if len(args) == 0 {
		return a.Unit
	}
	return a.Unit + "(" + strings.Join(args, ", ") + ")"
}
