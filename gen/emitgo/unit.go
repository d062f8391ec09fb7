// Package emitgo prints units as Go: operations, rules, compositions, models, updates,
// and functions that rules call, with their tests, the registry that lists them, and the
// types of the legal combinations of knobs. Package gokernel prints their kernels.
package emitgo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
	"github.com/nl-hecate/hecate/gen/plan"
)

// Units are units by name: those that the text of another one may speak of, such as
// the parts that it is tested with.
type Units map[string]*abi.Unit

// of finds a unit.
func (us Units) of(name string) *abi.Unit {
	if u := us[name]; u != nil {
		return u
	}
	panic("emitgo: BUG: an instance of an unknown unit " + name)
}

// packages are those of the library and of these units.
func (us Units) packages() gotext.Imports {
	own := gotext.Imports{}
	for _, u := range us {
		if u.Kind != abi.OpUnit {
			path, name := Package(u)
			own[name] = u.Home.Import(path)
		}
	}
	return gotext.Library.With(own)
}

// Unit prints the package of one unit, or its part of the package of operations, by
// path under the root of the unit's module. With are the units that it names: the
// update that follows one of matrices.
func Unit(u *abi.Unit, with Units) map[string][]byte {
	e := newUnitEmitter(u, with)
	switch u.Kind {
	case abi.OpUnit:
		e.op()
	case abi.UpdateUnit:
		e.update()
	case abi.FunctionUnit:
		e.function()
	default:
		e.block()
	}
	e.references()
	return e.files
}

// A unitEmitter prints one unit.
type unitEmitter struct {
	u         *abi.Unit
	units     Units // that it may name
	packages  gotext.Imports
	functions gotext.Imports // of the functions that it calls
	files     map[string][]byte
	receiver  string // of the methods, where it is not that of the unit's own type
}

func newUnitEmitter(u *abi.Unit, with Units) *unitEmitter {
	e := &unitEmitter{u: u, units: with, packages: with.packages(), functions: gotext.Imports{}, files: map[string][]byte{}}
	e.importFunctions()
	return e
}

// nodeKind declares the number of a type that lives in slots of an arena.
func nodeKind(name string) string { return fmt.Sprintf("var %s = tape.NewKind()\n", name) }

// writeFused writes the file of a stage's fused arithmetic.
func (e *unitEmitter) writeFused(name string, s *stageEmitter) {
	if s.fwd.Fused != nil || s.bwd != nil && s.bwd.Fused != nil {
		e.write(name+"_fused.go", s.fused)
	}
}

// KernelFiles lists the files of units with kernels in fused arithmetic.
func KernelFiles(units []*abi.Unit) []plan.KernelFile {
	var out []plan.KernelFile
	for _, u := range units {
		path, pkg := Package(u)
		add := func(name string, pair abi.Pair) {
			f := plan.KernelFile{Path: path + "/" + name}
			for _, k := range []*plan.Kernel{pair.Fwd, pair.Bwd} {
				if k != nil {
					f.Kernels = append(f.Kernels, k)
				}
			}
			if len(f.Kernels) > 0 {
				out = append(out, f)
			}
		}
		for i, st := range u.Stages {
			switch u.Kind {
			case abi.OpUnit:
				add(u.ID, st.Pair)
			case abi.UpdateUnit:
				add(u.FileOf(i, pkg), st.Pair)
			default:
				add(strings.ToLower(st.Name), st.Pair)
				add("read", st.Frozen)
				add("start", st.Start)
			}
		}
	}
	return out
}

// folder is where a kind of unit lives under the folder of the generated code.
var folder = map[abi.UnitKind]string{abi.OpUnit: "ops", abi.RuleUnit: "rules", abi.ComposeUnit: "compositions",
	abi.ModelUnit: "models", abi.UpdateUnit: "updates", abi.FunctionUnit: "fronts"}

// Package is the path of a unit's package under the root of its module and its name.
func Package(u *abi.Unit) (path, name string) {
	if u.Alone() {
		return u.Home.Folder, u.Home.Package
	}
	if u.Kind == abi.OpUnit {
		return u.Home.Folder + "/ops", "ops"
	}
	name = strings.ReplaceAll(u.ID, "_", "")
	if u.Kind == abi.FunctionUnit { // one of several of a front
		return strings.Join([]string{u.Home.Folder, folder[u.Kind], name, u.Version()}, "/"), name
	}
	return u.Home.Folder + "/" + folder[u.Kind] + "/" + name, name
}

func (e *unitEmitter) newFile() *jen.File {
	path, name := Package(e.u)
	f := e.packages.NewFile(e.u.Home.Import(path), name, e.u.Page)
	for name, path := range e.functions {
		f.ImportAlias(path, name)
	}
	return f
}

// write renders a file; a failure is a fault of the emitter.
func (e *unitEmitter) write(name string, f *jen.File) { write(e.files, e.path(name), f) }

func (e *unitEmitter) path(name string) string {
	path, _ := Package(e.u)
	return path + "/" + name
}

func write(files map[string][]byte, path string, f *jen.File) {
	var b bytes.Buffer
	if err := f.Render(&b); err != nil {
		panic(fmt.Sprintf("emitgo: BUG: %s: %v", path, err))
	}
	files[path] = b.Bytes()
}

// sizeField is the field of a free size.
func sizeField(name string) string { return gotext.Identifier(name, true) }

// free lists the unit's free sizes.
func (e *unitEmitter) free() []abi.Size {
	return slices.DeleteFunc(slices.Clone(e.u.Sizes), func(s abi.Size) bool { return !s.Free })
}

// sizesType prints the struct of the unit's free sizes.
func (e *unitEmitter) sizesType(name string, batch bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s are the sizes of %s.\ntype %s struct {\n", name, e.u.Name, name)
	if batch {
		b.WriteString("\tBatch int // number of sequences\n")
	}
	for _, s := range e.free() {
		fmt.Fprintf(&b, "\t%s int // %s\n", sizeField(s.Name), s.Name)
	}
	b.WriteString("}\n")
	return b.String()
}

// header is the page's contract as a doc comment.
func (e *unitEmitter) header() string {
	var b strings.Builder
	for _, f := range e.u.Header {
		if f.Name == "Position" {
			continue
		}
		b.WriteString("//\n" + gotext.Comment(gotext.Wrap(f.Name+": "+f.Text, 76)))
	}
	return b.String()
}

// op prints a typed operation of the tape.
func (e *unitEmitter) op() {
	f := e.newFile()
	st := e.u.Stages[0]
	kind := gotext.LowerFirst(e.u.Name) + "Kind"
	f.Add(gotext.Code(nodeKind(kind)))
	f.Add(gotext.Code(e.sizesType(e.u.Name+"Sizes", true)))
	s := &stageEmitter{u: e.u, file: f, fused: e.newFile(), fn: e.u.Name, node: gotext.LowerFirst(e.u.Name) + "Node", kind: kind, fwd: st.Fwd, bwd: st.Bwd,
		sizeOf: func(size string) string {
			if size == "L" {
				return "z.Batch"
			}
			return "z." + sizeField(size)
		}}
	s.emit()
	e.write(e.u.ID+".go", f)
	e.writeFused(e.u.ID, s)
}
