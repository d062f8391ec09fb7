// Package opticks finds Newton's Opticks, the English text that every Go toolchain
// carries: half a megabyte, in the public domain.
package opticks

import (
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
