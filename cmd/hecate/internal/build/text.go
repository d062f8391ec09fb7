package build

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

// A Fallback is the text of this program, for when the toolchain's is not at
// hand.
type Fallback struct {
	Name string
	Text []byte
}

// openText opens the text at path, or without a path the toolchain's text, or
// when that cannot be read the fallback; note says which it was and why.
func openText(path string, f Fallback) (t *stream.Text, note string, err error) {
	if path != "" {
		if t, err = stream.Open(path); err != nil {
			return nil, "", fmt.Errorf("text: %w", err)
		}
		return t, path, nil
	}
	root := goroot()
	if root == "" {
		note = "no Go toolchain was found"
	} else if t, err = stream.Open(filepath.Join(root, filepath.FromSlash(opticks))); err == nil {
		return t, "Newton's Opticks, from the Go toolchain", nil
	} else {
		note = "the Go toolchain has no Opticks"
	}
	if t, err = stream.FromDocuments(f.Name, f.Text); err != nil {
		return nil, "", fmt.Errorf("text: %w", err)
	}
	return t, fmt.Sprintf("%s, our own small text, because %s", f.Name, note), nil
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
