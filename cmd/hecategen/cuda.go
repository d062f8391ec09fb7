package main

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/tree"
)

func defineCuda(c *command) runFunc {
	to := c.flags.String("out", filepath.Join("out", "cuda", "kernels"), "`folder` of the kernels, under the root of the project")
	return func(_ []string, out, err io.Writer) (int, error) {
		w, e := openProject()
		if e != nil {
			return exitFailed, e
		}
		folder := filepath.ToSlash(filepath.Clean(*to))
		files, ds := gen.CUDA(w.conf, folder)
		if status := report(ds, err); status != exitOK {
			return status, nil
		}
		r, e := tree.Apply(w.conf.Root, []string{folder}, files)
		if e == nil {
			fmt.Fprintf(out, "%s written, %d removed, %d current\n", plural(len(r.Written), "file"), len(r.Removed), r.Kept)
		}
		return exitOK, e
	}
}
