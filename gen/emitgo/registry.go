package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// registry prints the package that knows models by name: every named instance
// of a model, with its parts put together and its sizes taken from a table.
func registry(units []*plan.Unit, files map[string][]byte) {
	f := newFile(module+"generated/registry", "registry", "specs")
	for _, u := range units {
		if path, name := Package(u); u.Kind != plan.OpUnit {
			f.ImportName(module+path, name)
		}
	}
	f.PackageComment("// Package registry knows the models, rules, compositions and updates of the pages by name.")
	var b strings.Builder
	b.WriteString("// Models are the names of all models, in order.\nfunc Models() []string {\n\treturn []string{")
	var all []plan.Instance
	for _, u := range units {
		if u.Kind == plan.ModelUnit {
			all = append(all, u.Instances...)
		}
	}
	slices.SortFunc(all, func(a, b plan.Instance) int { return strings.Compare(a.Name, b.Name) })
	for i, in := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", in.Name)
	}
	b.WriteString("}\n}\n\n// NewModel makes a model by name. The sizes of parts carry their names:\n// attention.H. It fails for an unknown name, and for a size that is missing,\n// impossible or means nothing.\nfunc NewModel[F num.Float](name string, s block.Sizes) (block.Model[F], error) {\n\tswitch name {\n")
	for _, in := range all {
		fmt.Fprintf(&b, "\tcase %q:\n", in.Name)
		e := &instanceEmitter{units: units, b: &b}
		v := e.model(in.Root)
		fmt.Fprintf(&b, "\t\treturn %s, s.Err()\n", v)
	}
	b.WriteString("\t}\n\treturn nil, fmt.Errorf(\"there is no model %s; there are %s\", name, strings.Join(Models(), \", \"))\n}\n")
	rules(units, &b)
	updateTable(units, &b)
	f.Add(raw(b.String()))
	write(files, "generated/registry/registry.go", f)
}

// rules prints the table of memory rules: each with its step and its frozen
// read. A rule that lacks one of them was not compiled. A backward is missing
// where nothing has a gradient: in the read of a rule that asks no question.
func rules(units []*plan.Unit, b *strings.Builder) {
	var names []string
	var cases strings.Builder
	for _, u := range units {
		if u.Kind != plan.RuleUnit {
			continue
		}
		st := u.Stages[0]
		for _, k := range []*plan.Kernel{st.Fwd, st.Frozen.Fwd} {
			if k == nil {
				panic("emitgo: BUG: rule " + u.Name + " lacks a kernel")
			}
		}
		_, pkg := Package(u)
		names = append(names, fmt.Sprintf("%q", u.Name))
		fmt.Fprintf(&cases, "\tcase %q:\n\t\treturn %s.New[F](s, width), s.Err()\n", u.Name, pkg)
	}
	fmt.Fprintf(b, "\n// Rules are the names of all memory rules, in order.\nfunc Rules() []string {\n\treturn []string{%s}\n}\n", strings.Join(names, ", "))
	fmt.Fprintf(b, "\n// NewRule makes a memory rule by name, for vectors of the given width. It fails\n// as NewModel does.\nfunc NewRule[F num.Float](name string, s block.Sizes, width int) (block.Block[F], error) {\n\tswitch name {\n%s\t}\n\treturn nil, fmt.Errorf(\"there is no rule %%s; there are %%s\", name, strings.Join(Rules(), \", \"))\n}\n", cases.String())
}

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

// model makes the parts from the model's width, then the model.
func (e *instanceEmitter) model(a plan.Applied) string {
	u := e.unit(a.Unit)
	_, pkg := Package(u)
	width := modelWidth(u)
	fmt.Fprintf(e.b, "\t\twidth := s.Get(%q, -1, 1)\n", width)
	args := append([]string{"s"}, e.parts(u, a, "s")...)
	return fmt.Sprintf("%s.New(%s)", pkg, strings.Join(args, ", "))
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
