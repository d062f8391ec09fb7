package command

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/validation/opticks"
)

// TestPresets makes every preset's model on its stream, and wants all files listed, with
// a purpose and what they reached.
func TestPresets(t *testing.T) {
	files, err := presetFiles.ReadDir("presets")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".toml"))
	}
	if want := slices.Sorted(slices.Values(presetNames)); !slices.Equal(names, want) {
		t.Errorf("files of %v, listed %v", names, want)
	}
	bpe := filepath.Join(t.TempDir(), "bpe.json")
	var w, errs bytes.Buffer
	if status := run(context.Background(), registry.All(), []string{"tokenize", "text/crossroads.txt", "--tokenizer", bpe, "--build", "300"}, nil, &w, &errs); status != fine {
		t.Fatal(errs.String())
	}
	for _, n := range presetNames {
		data, err := preset(n)
		if err != nil {
			t.Fatal(err)
		}
		about := aboutPreset(data)
		if len(about) < 2 || !strings.HasPrefix(about[len(about)-1], "Reached: ") {
			t.Errorf("%s says %q", n, about)
		}
		w.Reset()
		errs.Reset()
		args := []string{"build", "--preset", n, "--text", "text/crossroads.txt", "--dry-run", "--lanes", "1"}
		if bytes.Contains(data, ofWords) {
			args = append(args, "--set", "stream.tokenizer="+bpe)
		}
		if status := run(context.Background(), registry.All(), args, nil, &w, &errs); status != fine {
			t.Errorf("%s: %s", n, errs.String())
		}
	}
}

// TestPresetsReach builds presets on the default text, those of words on five megabytes of Go with a tokenizer made
// from it, and writes what they reached into their files. It is make presets: PRESETS names one, or all.
func TestPresetsReach(t *testing.T) {
	which := os.Getenv("PRESETS")
	if which == "" {
		t.Skip("builds whole presets: make presets")
	}
	built := regexp.MustCompile(`(?m)^built: .* tokens in ([0-9:]+), .*; read (.*)$`)
	after := regexp.MustCompile(`(?m)^after: +([0-9.]+) bits/byte`)
	held := regexp.MustCompile(`(?m)^text: +(.*?),? from`)
	for _, n := range presetNames {
		data, err := preset(n)
		if err != nil {
			t.Fatal(err)
		}
		if which != "all" && which != n {
			continue
		}
		var w, errs bytes.Buffer
		hecate := func(args ...string) {
			if status := run(context.Background(), registry.All(), args, nil, &w, &errs); status != fine {
				t.Fatalf("%s: %s", n, errs.String())
			}
		}
		args, on := []string{"build", "--preset", n, "--out", t.TempDir()}, ""
		if bytes.Contains(data, ofWords) {
			text, bpe := filepath.Join(t.TempDir(), "text"), filepath.Join(t.TempDir(), "bpe.json")
			if err := opticks.GoSources(text, 5_000_000); err != nil {
				t.Fatal(err)
			}
			hecate("tokenize", text, "--tokenizer", bpe, "--build", "4096")
			args, on = append(args, "--text", text, "--set", "stream.tokenizer="+bpe), "5 MB of Go sources in a vocabulary of 4,096"
		}
		hecate(args...)
		t.Logf("%s", w.String())
		find := func(r *regexp.Regexp) []string {
			m := r.FindStringSubmatch(w.String())
			if m == nil {
				t.Fatalf("%s: no %v", n, r)
			}
			return m
		}
		if on == "" {
			on = find(held)[1]
		}
		b := find(built)
		line := fmt.Sprintf("# Reached: %s bits/byte held out of %s, %s, in %s on %s with %v.", find(after)[1], on, b[2], b[1],
			progress.Things(runtime.GOMAXPROCS(0), "core"), cpu.Active())
		data = regexp.MustCompile(`(?m)^# Reached: .*$`).ReplaceAll(data, []byte(line))
		if err := os.WriteFile("presets/"+n+".toml", data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
