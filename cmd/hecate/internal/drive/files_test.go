package drive

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// folder makes files with times that rise in the order given.
func folder(t *testing.T, names ...string) Files {
	t.Helper()
	f := Files{Dir: t.TempDir(), Stem: "m"}
	for i, n := range names {
		path := filepath.Join(f.Dir, n)
		if err := os.WriteFile(path, []byte(n), 0o600); err != nil {
			t.Fatal(err)
		}
		when := time.Unix(1_700_000_000+int64(i), 0)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func (f Files) list(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ext))
	}
	return strings.Join(names, " ")
}

// TestPrune removes old numbered checkpoints and nothing else: not those of later
// steps, which another run has left, nor what only looks like one.
func TestPrune(t *testing.T) {
	names := []string{"m-best.safetensors", "m.safetensors", "m-x.safetensors", "n-000000001.safetensors", "m-000000001.safetensors",
		"m-000000002.safetensors", "m-000000010.safetensors", "m-000000030.safetensors"}
	f := folder(t, names...)
	if err := f.prune(10, 2); err != nil {
		t.Fatal(err)
	}
	if got, want := f.list(t), "m-000000002 m-000000010 m-000000030 m-best m-x m n-000000001"; got != want {
		t.Errorf("left: %s, want %s", got, want)
	}
	if err := f.prune(10, 5); err != nil || !strings.Contains(f.list(t), "m-000000002 ") {
		t.Errorf("fewer than are kept: %v, left %s", err, f.list(t))
	}
}

// TestNewest takes the last that was written, of those that are good.
func TestNewest(t *testing.T) {
	f := folder(t, "m-000000009.safetensors", "m.safetensors", "m-000000003.safetensors", "m-best.safetensors", "other.safetensors")
	var refused []string
	newest := func(bad ...string) string {
		refused = nil
		path, err := f.Newest(func(path string) error {
			if slices.Contains(bad, filepath.Base(path)) {
				return errors.New("bad")
			}
			return nil
		}, func(path string, err error) { refused = append(refused, filepath.Base(path)) })
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(path, f.Dir+string(filepath.Separator))
	}
	if got := newest(); got != "m-000000003.safetensors" {
		t.Errorf("newest: %s", got)
	}
	if got := newest("m-000000003.safetensors", "m.safetensors"); got != "m-000000009.safetensors" || len(refused) != 2 {
		t.Errorf("newest good: %s, refused %q", got, refused)
	}
	if got := newest("m-000000003.safetensors", "m.safetensors", "m-000000009.safetensors"); got != "" {
		t.Errorf("none is good, but %s", got)
	}
	same := time.Unix(1_800_000_000, 0)
	for _, n := range []string{"m.safetensors", "m-000000003.safetensors", "m-000000009.safetensors"} {
		if err := os.Chtimes(filepath.Join(f.Dir, n), same, same); err != nil {
			t.Fatal(err)
		}
	}
	if got := newest(); got != "m.safetensors" {
		t.Errorf("of one moment: %s", got)
	}
	if got := newest("m.safetensors"); got != "m-000000009.safetensors" {
		t.Errorf("of one moment, numbered: %s", got)
	}
	f.Dir = filepath.Join(f.Dir, "nowhere")
	if got := newest(); got != "" {
		t.Errorf("no folder has %s", got)
	}
}

func TestWords(t *testing.T) {
	for model, want := range map[string]string{"ZeroB": "zerob", "ByteLM(MAG(DeltaRule, SlidingWindow))": "bytelm-mag-deltarule-slidingwindow", "../x": "x", "()": "model"} {
		if got := StemOf(model); got != want {
			t.Errorf("StemOf(%s) = %s, want %s", model, got, want)
		}
	}
	if got, want := Command("a", "b c", "it's", "", "--x=1"), `a 'b c' 'it'\''s' '' --x=1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReplace puts a file in the place of another and leaves nothing beside it.
func TestReplace(t *testing.T) {
	f := folder(t, "m.txt")
	if err := replace(f.Path(".txt"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(f.Path(".txt")); string(b) != "new" || err != nil || f.list(t) != "m.txt" {
		t.Errorf("%q (%v), in the folder %s", b, err, f.list(t))
	}
	if err := os.Mkdir(f.Path(".dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := replace(f.Path(".dir"), []byte("x")); err == nil || f.list(t) != "m.dir m.txt" {
		t.Errorf("a folder was replaced (%v): %s", err, f.list(t))
	}
}
