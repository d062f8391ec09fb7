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
