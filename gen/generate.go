package gen

import (
	"maps"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitasm"
	"github.com/nl-hecate/hecate/gen/emitasm/gemm"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/fuse"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/trace"
	"github.com/nl-hecate/hecate/gen/tree"
)

// A Config says what to compile: the root of the project and the folder of its
// pages under it.
type Config struct {
	Root  string   // folder of the project
	Specs []string // files and folders of its pages
	Memo  string   // folder for the last clean emission; "" compiles every time
}

// Owned are the folders under the root that the compiler writes, and nothing
// else does.
var Owned = []string{"generated", emitcuda.Folder}

// Emit compiles the pages and returns every file that they make, by its path
// under the root. Nothing is returned when there is an error.
func Emit(c Config) (tree.Files, diag.List) {
	e, ds := emit(c, false)
	if ds.HasErrors() {
		return nil, ds
	}
	return e.files, ds
}

// An emission is what the pages become.
type emission struct {
	src   *Source
	files tree.Files
	trace *trace.Trace
}

// emit compiles the pages; with proof set it proves them first.
func emit(c Config, proof bool) (*emission, diag.List) {
	s, ds := Load(c.Specs...)
	if ds.HasErrors() {
		return nil, ds
	}
	if proof {
		_, pd := Prove(s, false)
		ds.Append(pd)
		if ds.HasErrors() {
			return nil, ds
		}
	}
	units, cd := Compile(s)
	ds.Append(cd)
	if ds.HasErrors() {
		return nil, ds
	}
	table, td := Combinations(s)
	ds.Append(td)
	if ds.HasErrors() {
		return nil, ds
	}
	for _, u := range units {
		u.Page = underRoot(c.Root, u.Page)
	}
	files := kernels(units)
	maps.Copy(files, emitgo.Safety(choices(s, table, c.Root)))
	if vd := addTests(s, units, files); vd.HasErrors() {
		ds.Append(vd)
		return nil, ds
	}
	t := Trace(s, units, files, c.Root) // reads the files, so it comes last
	files["generated/trace.json"] = t.JSON()
	return &emission{s, files, t}, ds
}

// kernels prints the units: first their assembly, which says how it is called.
func kernels(units []*plan.Unit) tree.Files {
	files := Assembly(emitgo.KernelFiles(units))
	maps.Copy(files, gemm.Files())
	maps.Copy(files, emitgo.Files(units))
	maps.Copy(files, emitcuda.Files(units)) // behind emitgo, which names the kernels of operations
	return files
}

// Assembly gives kernels their fused arithmetic and prints what of it is
// assembly, beside the functions of package kern that it shares.
func Assembly(list []plan.KernelFile) tree.Files {
	for _, f := range list {
		for _, k := range f.Kernels {
			k.Fused = fuse.Kernel(k)
		}
	}
	return emitasm.Files(list)
}

// underRoot is a page's path under the root, whatever the working directory.
func underRoot(root, path string) string {
	rel, err := filepath.Rel(root, filepath.FromSlash(path))
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// Generate proves and compiles the pages and makes the owned folders hold
// exactly what they say. Nothing is written when there is an error, but what an
// interrupted run left behind is finished or undone.
func Generate(c Config) (tree.Report, diag.List, error) {
	m := remember(c)
	if files, ok := m.files(); ok {
		r, err := tree.Apply(c.Root, Owned, files)
		return r, diag.List{}, err
	}
	e, ds := emit(c, true)
	if ds.HasErrors() {
		rec, err := tree.Recover(c.Root)
		return tree.Report{Recovery: rec}, ds, err
	}
	// What is worth a warning is said every time; a page that changed meanwhile
	// was not what was compiled, or is not what the memo would say.
	if ds.Len() == 0 && remember(c) == m {
		m.keep(e.files)
	}
	r, err := tree.Apply(c.Root, Owned, e.files)
	return r, ds, err
}

// Check compiles the pages and compares the owned folders with what they say.
func Check(c Config) (tree.Drift, diag.List, error) {
	var ds diag.List
	files, ok := remember(c).files()
	if !ok {
		files, ds = Emit(c)
	}
	if ds.HasErrors() {
		return tree.Drift{}, ds, nil
	}
	d, err := tree.Check(c.Root, Owned, files)
	return d, ds, err
}
