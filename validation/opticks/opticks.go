// Package opticks finds Newton's Opticks, the English text that every Go toolchain
// carries, half a megabyte in the public domain, and a longer text, the sources of the toolchain.
package opticks

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Note is what to call it.
const Note = "Newton's Opticks, from the Go toolchain"

// Path is its place under the root of the toolchain, which GOROOT or else the go
// command names. The file may be missing.
func Path() string {
	return filepath.Join(Root(), "src", "testdata", "Isaac.Newton-Opticks.txt")
}

// Root is the root of the toolchain, "" where there is none.
func Root() string {
	if r := os.Getenv("GOROOT"); r != "" {
		return r
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// GoSources writes a text of so many bytes into a file: the Go sources of the toolchain in the order of their paths, without
// tests. A toolchain with fewer bytes of them is an error.
func GoSources(to string, size int) error {
	var b strings.Builder
	root := filepath.Join(Root(), "src")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if b.Len() >= size {
			return fs.SkipAll
		}
		data, err := os.ReadFile(path)
		b.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	if b.Len() < size {
		return fmt.Errorf("%s has %d bytes of Go, not %d", root, b.Len(), size)
	}
	return os.WriteFile(to, []byte(b.String()[:size]), 0o644)
}
