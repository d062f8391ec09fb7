package emit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/format"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// Overlay writes the packages of the recurrences under the project's root, and returns the path
// of an overlay for the go command that adds a file to bench which imports them all:
//
//	go run -overlay FILE ./validation/bench
func Overlay(root string) (string, error) {
	files, err := Files(root)
	if err != nil {
		return "", err
	}
	if root, err = filepath.Abs(root); err != nil {
		return "", err
	}
	under := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
	files[folder+"emitted.go"] = table(files)
	replace := map[string]string{under("validation/bench/emitted.go"): under(folder + "emitted.go")}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	files[folder+"overlay.json"] = text
	for name, text := range files {
		if err := write(under(name), text); err != nil {
			return "", err
		}
	}
	if err := dropOthers(root, files); err != nil {
		return "", err
	}
	return under(folder + "overlay.json"), nil
}

// dropOthers removes what an earlier compiler wrote: it may not build any more.
func dropOthers(root string, files map[string][]byte) error {
	return filepath.WalkDir(filepath.Join(root, filepath.FromSlash(folder)), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err == nil && files[filepath.ToSlash(rel)] == nil {
			err = os.Remove(name)
		}
		return err
	})
}

// write leaves a file that has the text as it is: another process may be building from it.
func write(name string, text []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

// table is the file that enters the constructors of all packages into bench's table.
func table(files map[string][]byte) []byte {
	packages := map[string]bool{}
	for name := range files {
		packages[path.Base(path.Dir(name))] = true
	}
	var imports, rows bytes.Buffer
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(&imports, "%q\n", module+folder+p)
		fmt.Fprintf(&rows, "enter(%q, %[2]s.NewForward[float32], %[2]s.NewBackward[float32], %[2]s.NewForward[float64], %[2]s.NewBackward[float64])\n", p, p)
	}
	text, err := format.Source(fmt.Appendf(nil, "// %s\n\npackage main\n\nimport (\n%s)\n\nfunc init() {\n%s}\n", marker, &imports, &rows))
	if err != nil {
		panic("emit: BUG: " + err.Error())
	}
	return text
}
