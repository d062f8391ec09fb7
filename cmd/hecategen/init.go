package main

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/project"
)

//go:embed init
var starters embed.FS

func defineInit(c *command) runFunc {
	specs := c.flags.String("specs", "specs", "`folder` of the pages")
	goDir := c.flags.String("go", "generated", "`folder` of the generated Go")
	return func(_ []string, out, err io.Writer) (int, error) {
		return exitOK, initialise(path.Clean(filepath.ToSlash(*specs)), path.Clean(filepath.ToSlash(*goDir)), out)
	}
}

// initialise writes the files of a new project.
func initialise(specs, goDir string, out io.Writer) error {
	files, err := project.Starter(starters, specs, goDir)
	if err != nil {
		return err
	}
	if err := writeNew(files); err != nil {
		return err
	}
	for _, f := range files {
		fmt.Fprintln(out, "wrote", filepath.FromSlash(f.Path))
	}
	fmt.Fprintln(out, "\nnext:")
	if p, err := project.Find("."); err != nil {
		return err
	} else if !p.Tool {
		fmt.Fprintln(out, "  go get -tool "+project.Compiler)
	}
	fmt.Fprintln(out, "  go generate ./...\n  go mod tidy\n  go test ./...")
	return nil
}

// writeNew writes files that must not exist yet, all or none of them.
func writeNew(files []project.File) (err error) {
	for _, f := range files {
		switch _, err := os.Lstat(filepath.FromSlash(f.Path)); {
		case err == nil:
			return fmt.Errorf("%s is there already; nothing was written", f.Path)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	var done []string
	defer func() {
		if err != nil {
			for _, name := range done {
				err = errors.Join(err, os.Remove(name))
			}
		}
	}()
	for _, f := range files {
		name := filepath.FromSlash(f.Path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		w, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		done = append(done, name)
		_, err = io.WriteString(w, f.Text)
		if err := errors.Join(err, w.Sync(), w.Close()); err != nil {
			return err
		}
	}
	return nil
}
