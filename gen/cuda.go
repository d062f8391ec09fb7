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
	p, ds := Open(c)
	if ds.HasErrors() {
		return nil, ds
	}
	type text struct {
		files map[string][]byte
		rows  []string
	}
	texts, td := sideBySide(p.jobs, func(j *job) (text, diag.List) {
		if !emits(j.unit) {
			return text{}, diag.List{}
		}
		u, ds := CompileUnit(p.Source, j.unit)
		if u == nil || ds.HasErrors() {
			return text{}, ds
		}
		files, rows := emitcuda.Unit(u)
		return text{files, rows}, ds
	})
	if ds.Append(td); ds.HasErrors() {
		return nil, ds
	}
	all := map[string][]byte{}
	var rows []string
	for _, t := range texts {
		maps.Copy(all, t.files)
		rows = append(rows, t.rows...)
	}
	all["manifest.json"] = emitcuda.Manifest(rows)
	name, header := emitcuda.Include()
	all[name] = header
	files := tree.Files{}
	for name, text := range all {
		files[path.Join(folder, name)] = text
	}
	return files, ds
}
