package prove_test

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/internal/vectors"
)

// An excuse is a line of testdata/unread.txt: tensors that no witness reads, and
// why. by is the test file of another package that reads them, if one does.
type excuse struct {
	file, pattern, by, why string
	line                   int
	used                   bool
}

// everythingIsRead wants each tensor of each vector file read by a witness, or a
// reason why none does. It runs when all witnesses have been held.
func everythingIsRead(t *testing.T) {
	list := excuses(t, "testdata/unread.txt")
	names, err := filepath.Glob("../../validation/oracle/vectors/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no vector files: %v", err)
	}
	for _, name := range names {
		base := filepath.Base(name)
		for _, n := range unread(t, name) {
			if !excused(list, base, n) {
				t.Errorf("%s: nobody reads %s, and testdata/unread.txt has no reason for it", base, n)
			}
		}
	}
	for _, e := range list {
		if !e.used {
			t.Errorf("unread.txt, line %d: there is nothing of %s that %s excuses", e.line, e.file, e.pattern)
		}
		if e.by == "" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", e.by))
		stem, _, _ := strings.Cut(strings.TrimSuffix(e.file, ".txt"), "?")
		if err != nil || !strings.Contains(string(text), `"`+stem) {
			t.Errorf("unread.txt, line %d: %s does not read %s (%v)", e.line, e.by, e.file, err)
		}
	}
}

// unread are the tensors of a file that were not asked for.
func unread(t *testing.T, name string) []string {
	t.Helper()
	r, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := vectors.Read(r)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, x := range f.Tensors() {
		if !wasRead[filepath.Base(name)][x.Name] {
			out = append(out, x.Name)
		}
	}
	return out
}

func excused(list []*excuse, file, name string) bool {
	for _, e := range list {
		f, _ := path.Match(e.file, file)
		if n, _ := path.Match(e.pattern, name); f && n {
			e.used = true
			return true
		}
	}
	return false
}

// excuses reads lines FILE PATTERN [by TEST] : reason. A star stands for any text.
func excuses(t *testing.T, name string) []*excuse {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out []*excuse
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		head, why, ok := strings.Cut(line, " : ")
		words := strings.Fields(head)
		if !ok || why == "" || (len(words) != 2 && (len(words) != 4 || words[2] != "by")) {
			t.Fatalf("%s, line %d: want FILE PATTERN [by TEST] : reason", name, i+1)
		}
		e := &excuse{file: words[0], pattern: words[1], why: why, line: i + 1}
		if len(words) == 4 {
			e.by = words[3]
		}
		out = append(out, e)
	}
	return out
}
