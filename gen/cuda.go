package gen

import (
	"maps"
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
	var rows []string
	for _, u := range texts {
		maps.Copy(files, u.files)
		rows = append(rows, u.cudaRows...)
	}
	name, header := emitcuda.Include()
	files[path.Join(c.CUDA, name)] = header
	files[path.Join(c.CUDA, "manifest.json")] = emitcuda.Manifest(rows)
	return files, ds
}
