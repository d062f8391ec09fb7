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

// Text opens a file, or for "" the text that a build is given by default, and
// cuts it as a build does.
func (p *Present) Text(path string) (note string, built, heldOut []byte, err error) {
	var t *stream.Text
	switch {
	case path != "":
		note = path
		t, err = stream.Open(path)
	default:
		note = "Newton's Opticks, from the Go toolchain"
		if t, err = stream.Open(filepath.Join(goroot(), filepath.FromSlash(opticks))); err != nil {
			note = p.Fallback.Name
			t, err = stream.FromDocuments(note, p.Fallback.Text)
		}
	}
	if err != nil {
		return "", nil, nil, fmt.Errorf("text: %w", err)
	}
	a, b := t.Split()
	return note, a.Bytes(), b.Bytes(), nil
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
