package gen

import (
	"path"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/tree"
)

// CUDA compiles the project's pages and returns the CUDA text of their kernels, its manifest and
// the header that it includes, by paths that begin with the folder.
func CUDA(c Config, folder string) (tree.Files, diag.List) {
	c.CUDA = path.Clean(folder)
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	texts, td := sideBySide(p.jobs, func(j *unitJob) (*unitCompiler, diag.List) {
		u := newCompiler(p.Source, j.unit, c)
		if emits(j.unit) && j.src.compiled(j.unit) && u.run(codeStage, "abi") {
			u.cudaFiles()
		}
		return u, *u.ds
	})
	if ds.Append(td); ds.HasErrors() {
		return nil, ds
	}
	files := tree.Files{}
	var all []emitcuda.File
	for _, u := range texts {
		all = append(all, u.cuda...)
	}
	plainText(files, c.CUDA, all)
	name, header := emitcuda.Include()
	files[path.Join(c.CUDA, name)] = header
	return files, ds
}

// plainText adds the texts of kernels and their manifest to files, under a folder.
func plainText(files tree.Files, folder string, all []emitcuda.File) {
	for _, f := range all {
		merge(files, tree.Files{path.Join(folder, f.Path): []byte(f.Text)})
	}
	files[path.Join(folder, "manifest.json")] = emitcuda.Manifest(all)
}
