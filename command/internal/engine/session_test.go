package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSession reads a text in one go, and in two processes with a saved session
// between them: the memory is the same. Other parameters, another text and
// another length of calls are refused, and name both sides.
func TestSession(t *testing.T) {
	dir := t.TempDir()
	b := newBuilder(t, "")
	var files [2]string
	for i := range files {
		steps(t, b, 2)
		files[i] = filepath.Join(dir, string(rune('a'+i)))
		if err := b.Save(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	saved, other := filepath.Join(dir, "session"), filepath.Join(dir, "other.txt")
	if err := os.WriteFile(other, []byte(strings.Repeat("another text ", 40)), 0o600); err != nil {
		t.Fatal(err)
	}
	read := func(s Session, calls int) (nats float64) {
		t.Helper()
		for range calls {
			n, _, ok, err := s.Step()
			if err != nil {
				t.Fatal(err)
			}
			if nats += n; !ok {
				break
			}
		}
		return nats
	}
	hashed := func(s Session) string {
		t.Helper()
		h, err := s.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	open := func(path, text string, chunk int, saved string) Session {
		t.Helper()
		s, err := modules.NewSession(path, Text{Paths: []string{text}}, chunk, saved)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	whole := open(files[0], smallText, 64, "")
	want := read(whole, 1<<20)
	first := open(files[0], smallText, 64, saved)
	got := read(first, 9)
	if err := first.Save(saved); err != nil {
		t.Fatal(err)
	}
	rest := open(files[0], smallText, 64, saved)
	if rest.Position() != 9*64 || hashed(rest) != hashed(first) {
		t.Errorf("taken up at %d with the context %s, want %d and %s", rest.Position(), hashed(rest), 9*64, hashed(first))
	}
	got += read(rest, 1<<20)
	if hashed(rest) != hashed(whole) || rest.Position() != whole.Position() || !(got <= want*(1+1e-12) && got >= want*(1-1e-12)) {
		t.Errorf("in two parts %v nats and %s, in one %v and %s", got, hashed(rest), want, hashed(whole))
	}
	for want, open := range map[string]func() (Session, error){
		"the parameters of the checkpoint differs: saved ": func() (Session, error) {
			return modules.NewSession(files[1], Text{Paths: []string{smallText}}, 64, saved)
		},
		"the chunk of the run differs: saved 64, here 32": func() (Session, error) {
			return modules.NewSession(files[0], Text{Paths: []string{smallText}}, 32, saved)
		},
		"of slot 0 differs: saved ": func() (Session, error) { return modules.NewSession(files[0], Text{Paths: []string{other}}, 64, saved) },
		"the kind of checkpoint differs: saved build": func() (Session, error) {
			return modules.NewSession(files[0], Text{Paths: []string{smallText}}, 64, files[0])
		},
	} {
		if _, err := open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
