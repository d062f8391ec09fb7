package emitgo

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// registry prints the package that knows the pages by name: what a formula may put
// where, and how to make it.
func registry(units []*plan.Unit, files map[string][]byte) {
	f := newFile(module+"generated/registry", "registry", "specs")
	for _, u := range units {
		if path, name := Package(u); u.Kind != plan.OpUnit {
			f.ImportName(module+path, name)
		}
	}
	f.PackageComment("// Package registry knows the models, rules, compositions and updates of the pages by name.")
	var b strings.Builder
	spec(&b, units)
	names(&b, units)
	pageTable(&b, units)
	b.WriteString(making)
	makers(&b, units)
	updateTable(units, &b)
	f.Add(raw(b.String()))
	write(files, "generated/registry/registry.go", f)
}

// spec prints the digest of all programs: a checkpoint says of which pages it is.
func spec(b *strings.Builder, units []*plan.Unit) {
	h := sha256.New()
	for _, u := range units {
		fmt.Fprintln(h, u.Name, u.Hash)
	}
	fmt.Fprintf(b, "// Spec is the digest of everything that the pages compute.\nconst Spec = \"%x\"\n\n", h.Sum(nil))
}

// names prints the lists of models and rules. A rule that lacks its step or its
// frozen read was not compiled.
func names(b *strings.Builder, units []*plan.Unit) {
	var models, rules []string
	for _, u := range units {
		switch u.Kind {
		case plan.ModelUnit:
			for _, in := range u.Instances {
				models = append(models, fmt.Sprintf("%q", in.Name))
			}
		case plan.RuleUnit:
			for _, k := range []*plan.Kernel{u.Stages[0].Fwd, u.Stages[0].Frozen.Fwd} {
				if k == nil {
					panic("emitgo: BUG: rule " + u.Name + " lacks a kernel")
				}
			}
			rules = append(rules, fmt.Sprintf("%q", u.Name))
		}
	}
	slices.Sort(models)
	fmt.Fprintf(b, "// Models are the names of all models, in order.\nfunc Models() []string {\n\treturn []string{%s}\n}\n\n", strings.Join(models, ", "))
	fmt.Fprintf(b, "// Rules are the names of all memory rules, in order.\nfunc Rules() []string {\n\treturn []string{%s}\n}\n\n", strings.Join(rules, ", "))
}

// pageKinds are the kinds of pages as formulas know them, and partKinds those of
// parts.
var pageKinds = map[plan.UnitKind]string{plan.RuleUnit: "formula.Rule", plan.ComposeUnit: "formula.Composition", plan.ModelUnit: "formula.Model"}
var partKinds = map[string]string{"Rule": "formula.Rule", "Composition": "formula.Composition", "Block": "formula.Block"}

// pageTable prints what a formula may put where.
func pageTable(b *strings.Builder, units []*plan.Unit) {
	b.WriteString("var pages = formula.Table{\n")
	for _, u := range units {
		kind := pageKinds[u.Kind]
		if kind == "" {
			continue
		}
		if u.Schedule {
			kind = "formula.Schedule"
		}
		fmt.Fprintf(b, "\t%q: {Kind: %s%s},\n", u.Name, kind, pageFields(u))
		for _, in := range u.Instances {
			fmt.Fprintf(b, "\t%q: {Kind: %s, Is: %q},\n", in.Name, kind, formula(in.Root))
		}
	}
	b.WriteString("}\n\n")
}

func pageFields(u *plan.Unit) string {
	e := &unitEmitter{u: u}
	fixed := e.fixedSizes()
	var parts, sizes []string
	for _, p := range u.Parts {
		more := ""
		if p.Count != "" {
			more += ", List: true"
		}
		if !u.Named(p) {
			more += ", Bare: true"
		}
		parts = append(parts, fmt.Sprintf("{Name: %q, Kind: %s%s}", p.Name, partKinds[p.Kind], more))
	}
	for _, z := range e.free() {
		if z.Counts == "" && fixed[z.Name] == "" {
			sizes = append(sizes, fmt.Sprintf("%q", z.Name))
		}
	}
	out := ""
	if u.Kind == plan.ModelUnit {
		out += fmt.Sprintf(", Width: %q", modelWidth(u))
	}
	if len(parts) > 0 {
		out += fmt.Sprintf(", Parts: []formula.Part{%s}", strings.Join(parts, ", "))
	}
	if len(sizes) > 0 {
		out += fmt.Sprintf(", Sizes: []string{%s}", strings.Join(sizes, ", "))
	}
	return out
}

// makers prints the constructor of every page.
func makers(b *strings.Builder, units []*plan.Unit) {
	for _, model := range []bool{true, false} {
		kind, name, width := "Block", "makeBlock", ", width int"
		if model {
			kind, name, width = "Model", "makeModel", ""
		}
		fmt.Fprintf(b, "// %s makes the page of a node, its parts first.\nfunc %s[F num.Float](n *formula.Node, s block.Sizes%s) block.%s[F] {\n", name, name, width, kind)
		b.WriteString("\tfor name, v := range n.Sizes {\n\t\ts = s.Default(name, v)\n\t}\n")
		if model {
			b.WriteString("\twidth := s.Get(n.Page.Width, -1, 1)\n")
		}
		b.WriteString("\tswitch n.Name {\n")
		for _, u := range units {
			if pageKinds[u.Kind] == "" || (u.Kind == plan.ModelUnit) != model {
				continue
			}
			_, pkg := Package(u)
			args := []string{"s"}
			if !model {
				args = append(args, "width")
			}
			for _, p := range u.Parts {
				call := map[bool]string{false: "part", true: "list"}[p.Count != ""]
				args = append(args, fmt.Sprintf("%s[F](n, s, width, %q)", call, p.Name))
			}
			fmt.Fprintf(b, "\tcase %q:\n\t\treturn %s.New[F](%s)\n", u.Name, pkg, strings.Join(args, ", "))
		}
		b.WriteString("\t}\n\tpanic(\"registry: BUG: no page \" + n.Name)\n}\n\n")
	}
}

// making is the part of the registry that no page decides.
const making = `// Pages are the pages that a formula can name.
func Pages() formula.Table { return pages }

// NewModel makes a model of a formula, such as ByteLM(MAG(DeltaRule, SlidingWindow)),
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
