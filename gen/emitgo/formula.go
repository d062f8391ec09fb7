package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
)

// A formula of units as Go text that builds it, and as text.

// An instanceEmitter prints the construction of one instance.
type instanceEmitter struct {
	units Units
	b     *strings.Builder
	n     int
}

// modelWidth is the size that a model's parts work on: the last dimension of
// what its first call of a part receives.
func modelWidth(u *abi.Unit) string {
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
func (e *instanceEmitter) block(a abi.Applied, sizes string) string {
	u := e.units.of(a.Unit)
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
func (e *instanceEmitter) parts(u *abi.Unit, a abi.Applied, sizes string) []string {
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
func formula(a abi.Applied) string {
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
