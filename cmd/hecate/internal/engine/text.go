package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/runtime/stream"
)

// opticks is where every Go toolchain keeps Newton's Opticks, under its root.
const opticks = "src/testdata/Isaac.Newton-Opticks.txt"

// openText opens a file, or a text that is at hand; note says which it is.
func (m *Modules) openText(path string) (note string, t *stream.Text, err error) {
	switch {
	case path != "":
		note = path
		t, err = stream.Open(path)
	default:
		note = "Newton's Opticks, from the Go toolchain"
		if t, err = stream.Open(filepath.Join(goroot(), filepath.FromSlash(opticks))); err != nil {
			note = m.OwnName + ", our own small text, because the Go toolchain's was not found"
			t, err = stream.FromDocuments(m.OwnName, m.OwnText)
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("text: %w", err)
	}
	return note, t, nil
}

// goroot is the root of the Go toolchain, as the go command says it, or "".
func goroot() string {
	if r := os.Getenv("GOROOT"); r != "" {
		return r
	}
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
