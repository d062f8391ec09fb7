package emitgo

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/nl-hecate/hecate/gen/plan"
)

// Files prints all units: one package for the operations, one for each rule,
// composition, model and update, a registry that knows them by name, and the
// code that the kernels share.
func Files(units []*plan.Unit) map[string][]byte {
	out := map[string][]byte{}
	kind := 1
	for _, u := range units {
		e := &unitEmitter{u: u, files: out, kind: &kind}
		switch u.Kind {
		case plan.OpUnit:
			e.op()
		case plan.UpdateUnit:
			e.update()
		default:
			e.block()
		}
	}
	registry(units, out)
	support(out)
	return out
}

// support gives every package of kernels the functions that they share.
func support(files map[string][]byte) {
	packages := map[string]string{}
	for path, text := range files {
		if bytes.Contains(text, []byte(") Run() {")) {
			dir := path[:strings.LastIndex(path, "/")]
			packages[dir] = dir[strings.LastIndex(dir, "/")+1:]
		}
	}
	for dir, name := range packages {
		files[dir+"/support.go"] = []byte(strings.ReplaceAll(KernelSupport, "PACKAGE", name))
	}
}

// A unitEmitter prints one unit.
type unitEmitter struct {
	u     *plan.Unit
	files map[string][]byte
	kind  *int
}

// nextKind numbers the node types of the program.
func (e *unitEmitter) nextKind() int {
	n := *e.kind
	*e.kind++
	return n
}

// folder is where a kind of unit lives under generated/.
var folder = map[plan.UnitKind]string{plan.OpUnit: "ops", plan.RuleUnit: "rules", plan.ComposeUnit: "compositions",
	plan.ModelUnit: "models", plan.UpdateUnit: "updates"}

// Package is the path of a unit's package under the module and its name.
func Package(u *plan.Unit) (path, name string) {
	if u.Kind == plan.OpUnit {
		return "generated/ops", "ops"
	}
	name = strings.ReplaceAll(u.ID, "_", "")
	return "generated/" + folder[u.Kind] + "/" + name, name
}

func (e *unitEmitter) newFile() *jen.File {
	path, name := Package(e.u)
	return newFile(module+path, name, e.u.Page)
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
func sizeField(name string) string { return identifier(name, true) }

// free lists the unit's free sizes.
func (e *unitEmitter) free() []plan.Size {
	return slices.DeleteFunc(slices.Clone(e.u.Sizes), func(s plan.Size) bool { return !s.Free })
}

// sizesType prints the struct of the unit's free sizes.
func (e *unitEmitter) sizesType(name string, lanes bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s are the sizes of %s.\ntype %s struct {\n", name, e.u.Name, name)
	if lanes {
		b.WriteString("\tLanes int // values side by side\n")
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
		b.WriteString("//\n" + comment(wrap(f.Name+": "+f.Text, 76)))
	}
	return b.String()
}

// op prints a typed operation of the tape.
func (e *unitEmitter) op() {
	f := e.newFile()
	st := e.u.Stages[0]
	kind := lowerFirst(e.u.Name) + "Kind"
	f.Add(raw(fmt.Sprintf("const %s tape.Kind = %d\n", kind, e.nextKind())))
	f.Add(raw(e.sizesType(e.u.Name+"Sizes", true)))
	st.Fwd.Name, st.Bwd.Name = e.u.Name+"Call", e.u.Name+"Backward"
	s := &stageEmitter{u: e.u, file: f, fn: e.u.Name, node: lowerFirst(e.u.Name) + "Node", kind: kind, fwd: st.Fwd, bwd: st.Bwd,
		sizeOf: func(size string) string {
			if size == "L" {
				return "z.Lanes"
			}
			return "z." + sizeField(size)
		}}
	if len(slices.DeleteFunc(slices.Clone(st.Bwd.Params), func(b *plan.Buffer) bool { return b.Role != plan.Write })) == 0 {
		s.bwd = nil
	}
	s.emit()
	e.write(e.u.ID+".go", f)
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
