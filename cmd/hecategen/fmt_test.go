package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPagesAreFormatted holds every page of the project to the one spelling: to
// format it changes nothing, and neither does the way to ASCII and back.
func TestPagesAreFormatted(t *testing.T) {
	const specs = "../../specs"
	if out, err, status := formatted("-d", specs); status != exitOK || out != "" || err != "" {
		t.Errorf("status %d\n%s%s", status, out, err)
	}
	copied := filepath.Join(t.TempDir(), "specs")
	if err := os.CopyFS(copied, os.DirFS(specs)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"-ascii", "-w"}, {"-w"}} {
		if out, err, status := formatted(append(args, copied)...); status != exitOK {
			t.Fatalf("fmt %v: status %d\n%s%s", args, status, out, err)
		}
	}
	err := filepath.WalkDir(specs, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		was, _ := os.ReadFile(path)
		is, err := os.ReadFile(filepath.Join(copied, strings.TrimPrefix(filepath.ToSlash(path), specs)))
		if !bytes.Equal(was, is) {
			t.Errorf("%s does not come back from ASCII", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func formatted(args ...string) (out, err string, status int) {
	var o, e bytes.Buffer
	status = run(append([]string{"fmt"}, args...), &o, &e)
	return o.String(), e.String(), status
}
