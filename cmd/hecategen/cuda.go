package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/tree"
)

func cudaCommand() *command {
	c := newCommand("cuda", "[-out FOLDER]", "write the CUDA kernels of all pages into a folder", `
Compile all pages of the project and write the CUDA text of their kernels, with
its manifest and the header that it includes, into a folder under the root of
the project. What else hecategen wrote there is removed. A project whose
hecate.toml has the target cuda does not need this: generate writes the same
text.`, 0, 0)
	to := c.flags.String("out", filepath.Join("out", "cuda", "kernels"), "`folder` of the kernels, under the root of the project")
	c.run = func(_ []string, out, err io.Writer) int {
		w, e := openWorkspace(nil, "")
		if e == nil {
			e = w.mustBeProject()
		}
		if e != nil {
			return finish("cuda", bad, e, err)
		}
		folder := filepath.ToSlash(filepath.Clean(*to))
		files, ds := gen.CUDA(w.conf, folder)
		if status := report(ds, err); status != fine {
			return status
		}
		r, e := tree.Apply(w.conf.Root, []string{folder}, files)
		if e == nil {
			fmt.Fprintf(out, "%s written, %d removed, %d current\n", plural(len(r.Written), "file"), len(r.Removed), r.Kept)
		}
		return finish("cuda", fine, e, err)
	}
	return c
}
