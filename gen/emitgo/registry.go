package emitgo

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
)

// A Registry is what the package that lists a module's units is made from.
type Registry struct {
	Home      abi.Home
	Extends   string   // import path of the registry of a module that this one extends, or ""
	Packages  []string // of the units, as paths under the root of the module, in the order of the pages
	Instances []Instance
}

// An Instance is a formula with a name.
type Instance struct {
	Name    string
	Kind    string // of its page, as Go text: formula.Model
	Formula string
}

// NewInstance is the instance of a unit with its parts given.
func NewInstance(name string, of abi.Applied, units Units) Instance {
	return Instance{name, pageKind(units.of(of.Unit)), formula(of)}
}

// RegistryFolder is the package's path under the root of its module.
func RegistryFolder(h abi.Home) string { return h.Folder + "/registry" }

// File prints the package: a catalog of everything, and what a program asks of it.
func (r Registry) File() map[string][]byte {
	dir := RegistryFolder(r.Home)
	own := gotext.Imports{}
	for _, p := range r.Packages {
		own[p[strings.LastIndexByte(p, '/')+1:]] = r.Home.Import(p)
	}
	base := "catalog.New("
	if r.Extends != "" {
		own["library"] = r.Extends
		base = "library.All().With("
	}
	all := gotext.Library.With(own)
	f := all.NewFile(r.Home.Import(dir), "registry", "the pages")
	if r.Extends != "" {
		f.ImportAlias(r.Extends, "library")
	}
	f.PackageComment("// Package registry knows the models, rules, compositions and updates of the pages by name.")
	var b strings.Builder
	fmt.Fprintf(&b, "var all = %s\n", base)
	for _, p := range r.Packages {
		fmt.Fprintf(&b, "\t%s.Entry(),\n", p[strings.LastIndexByte(p, '/')+1:])
	}
	for _, in := range r.Instances {
		fmt.Fprintf(&b, "\tcatalog.Named(%q, %s, %q),\n", in.Name, in.Kind, in.Formula)
	}
	b.WriteString(")\n\n" + asking)
	f.Add(all.Code(b.String()))
	files := map[string][]byte{}
	write(files, dir+"/registry.go", f)
	return files
}

// asking is the part of the registry that no page decides.
const asking = `// All is the catalog of all pages.
func All() *catalog.Catalog { return all }

// Pages are the pages that a formula can name.
func Pages() formula.Table { return all.Pages() }

// Spec is the digest of everything that the pages compute.
func Spec() string { return all.Digest() }

// Models are the names of the models that have all their parts, sorted.
func Models() []string { return all.Models() }

// Rules are the names of the memory rules, in the order of their pages.
func Rules() []string { return all.Rules() }

// Updates are the names of the updates that move parameters, sorted.
func Updates() []string { return all.Updates() }

// Buffers are the names of the updates that move nothing and collect the gradients
// that wait until a level is updated, sorted.
func Buffers() []string { return all.Buffers() }

// NewModel is catalog.NewModel of all pages.
func NewModel[F num.Float](text string, s block.Sizes) (block.Model[F], error) {
	return catalog.NewModel[F](all, text, s)
}

// NewBlock is catalog.NewBlock of all pages.
func NewBlock[F num.Float](text string, s block.Sizes, width int) (block.Block[F], error) {
	return catalog.NewBlock[F](all, text, s, width)
}

// NewRule is catalog.NewRule of all pages.
func NewRule[F num.Float](text string, s block.Sizes, width int) (block.Block[F], error) {
	return catalog.NewRule[F](all, text, s, width)
}

// NewUpdate is catalog.NewUpdate of all pages.
func NewUpdate[F num.Float](name string) (update.Update[F], error) {
	return catalog.NewUpdate[F](all, name)
}
`

// InstanceTest prints the test of a formula with a name, beside the registry that
// makes it: the trial is of the unit that the formula begins with.
func InstanceTest(h abi.Home, x *Trial, page, id string, units Units) map[string][]byte {
	dir := RegistryFolder(h)
	f := gotext.Library.NewFile(h.Import(dir), "registry", page)
	f.Add(gotext.Library.Code(x.instance(units)))
	files := map[string][]byte{}
	write(files, dir+"/"+id+"_test.go", f)
	return files
}

// instance prints the test and what makes its subject.
func (x *Trial) instance(units Units) string {
	var b strings.Builder
	kind := map[bool]string{true: "Model", false: "Block"}[x.Unit.Kind == abi.ModelUnit]
	fmt.Fprintf(&b, "%sfunc Test%s(t *testing.T) {\n\tconformance.%s{\n\t\tName: %q,\n\t\tF64: make%s[float64],\n\t\tF32: make%s[float32],\n",
		gotext.Comment(gotext.Wrap(fmt.Sprintf("Test%s holds %s to the interpreter and to its own differences.", x.Name, formula(x.Of)), 76)), x.Name, kind, x.Name, x.Name, x.Name)
	x.table(&b)
	x.facts(&b)
	if kind == "Block" {
		x.blockFacts(&b, units)
	}
	split, args := "s, _", "s"
	if kind == "Block" {
		split, args = "s, width", "s, width"
	}
	fmt.Fprintf(&b, "\t\tVectors: %q,\n\t}.Test(t)\n}\n\nfunc make%s[F num.Float](z conformance.Sizes) (block.%s[F], error) {\n\t%s := z.Split()\n\treturn New%s[F](%q, %s)\n}\n\n",
		"testdata/"+x.File, x.Name, kind, split, kind, x.Name, args)
	return b.String()
}

// blockFacts prints what is known of a block's states.
func (x *Trial) blockFacts(b *strings.Builder, units Units) {
	if states := units.frozen(x.Of, ""); len(states) > 0 {
		fmt.Fprintf(b, "\t\tFrozen: []string{%s},\n", strings.Join(states, ", "))
		if x.Mixed {
			b.WriteString("\t\tMixed: true,\n")
		}
	}
	if units.learned(x.Of) {
		b.WriteString("\t\tStarts: true,\n")
	}
}

// frozen are the states of the rules in a formula that their reads do not write.
func (us Units) frozen(of abi.Applied, prefix string) []string {
	var out []string
	u := us.of(of.Unit)
	for _, s := range u.States {
		if read := u.Stages[0].Frozen.Fwd; read != nil && read.Result(s.Name) == nil && !s.Tail {
			out = append(out, fmt.Sprintf("%q", prefix+s.Name))
		}
	}
	for _, p := range of.Parts {
		out = append(out, us.frozen(p, prefix+p.Part+".")...)
	}
	return out
}

// learned reports whether a formula has a state whose first value is learned.
func (us Units) learned(of abi.Applied) bool {
	return slices.ContainsFunc(us.of(of.Unit).States, func(s abi.State) bool { return s.Starts }) || slices.ContainsFunc(of.Parts, us.learned)
}
