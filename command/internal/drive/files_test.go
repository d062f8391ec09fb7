package drive

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folder makes files.
func folder(t *testing.T, names ...string) Files {
	t.Helper()
	f := Files{Dir: t.TempDir(), Stem: "m"}
	for _, n := range names {
		if err := os.WriteFile(filepath.Join(f.Dir, n), []byte(n), 0o600); err != nil {
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

// TestNewest takes the one with the most steps, of the valid ones,
// whatever the clock of the files says.
func TestNewest(t *testing.T) {
	f := folder(t, "m-000000009.safetensors", "m.safetensors", "m-000000003.safetensors", "m-000000004.safetensors", "m-best.safetensors", "other.safetensors")
	var refused []string
	steps := map[string]int{"m-000000009.safetensors": 9, "m-000000003.safetensors": 3, "m-000000004.safetensors": 5, "m.safetensors": 12}
	newest := func(bad ...string) string {
		refused = nil
		path, err := f.Newest(func(path string) (int, error) {
			if slices.Contains(bad, filepath.Base(path)) {
				return 0, errors.New("bad")
			}
			return steps[filepath.Base(path)], nil
		}, func(path string, err error) { refused = append(refused, filepath.Base(path)) })
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimPrefix(path, f.Dir+string(filepath.Separator))
	}
	if got := newest(); got != "m.safetensors" {
		t.Errorf("newest: %s", got)
	}
	if got := newest("m-000000003.safetensors", "m.safetensors"); got != "m-000000009.safetensors" || !slices.Equal(refused, []string{"m.safetensors"}) {
		t.Errorf("newest good: %s, refused %q", got, refused)
	}
	if got := newest("m.safetensors", "m-000000009.safetensors"); got != "m-000000003.safetensors" || len(refused) != 3 {
		t.Errorf("one that is not what its name says was taken: %s, refused %q", got, refused)
	}
	steps["m.safetensors"] = 5
	if got := newest(); got != "m-000000009.safetensors" {
		t.Errorf("numbered ones have more steps, but %s", got)
	}
	f.Dir = filepath.Join(f.Dir, "nowhere")
	if got := newest(); got != "" {
		t.Errorf("no folder has %s", got)
	}
}

func TestWords(t *testing.T) {
	for model, want := range map[string]string{"ZeroB": "zerob", "ByteLM(MAG(DeltaRule, SlidingWindow))": "bytelm-mag-deltarule-slidingwindow", "../x": "x", "()": "model",
		strings.Repeat("ab ", 40): strings.Repeat("ab-", 30) + "a-5c3a096a"} {
		if got := StemOf(model); got != want {
			t.Errorf("StemOf(%s) = %s, want %s", model, got, want)
		}
	}
	if got, want := Command("a", "b c", "it's", "", "--x=1"), `a 'b c' 'it'\''s' '' --x=1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
