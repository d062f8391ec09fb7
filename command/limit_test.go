package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/nl-hecate/hecate/generated/registry"
)

// TestTimedBuild: the number of steps that a time limit decides makes the same build
// without a clock, bit for bit.
func TestTimedBuild(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "small.toml")
	if err := os.WriteFile(file, []byte(smallToml), 0o600); err != nil {
		t.Fatal(err)
	}
	build := func(out string, more ...string) string {
		var w, errs bytes.Buffer
		args := append([]string{"build", "-c", file, "--text", "text/crossroads.txt", "--sample", "0", "--out", filepath.Join(dir, out), "--set", "report.plots=false"}, more...)
		if status := run(context.Background(), registry.All(), args, nil, &w, &errs); status != fine {
			t.Fatalf("%v: %s", args, errs.String())
		}
		return w.String()
	}
	for _, schedule := range []string{"wsd", "cosine"} {
		text := build(schedule, "--set", "build.steps=0", "--time-limit", "1s", "--schedule", schedule, "--warmup", "20")
		found := regexp.MustCompile(`--steps ([0-9]+) makes`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no number of steps in\n%s", text)
		}
		same := func(a, b string) {
			t.Helper()
			x, err := os.ReadFile(filepath.Join(dir, a, "zerob.safetensors"))
			y, err2 := os.ReadFile(filepath.Join(dir, b, "zerob.safetensors"))
			if err != nil || err2 != nil || !bytes.Equal(x, y) {
				t.Errorf("%s and %s are different builds: %v %v", a, b, err, err2)
			}
		}
		if bytes.Contains([]byte(text), []byte("stopped:")) { // the machine became slow: the rest is made now
			build(schedule, "--set", "build.steps=0", "--schedule", schedule, "--warmup", "20", "--time-limit", "1h", "--resume", "auto")
		}
		build(schedule+"-steps", "--steps", found[1], "--schedule", schedule, "--warmup", "20")
		same(schedule, schedule+"-steps")
	}
}
