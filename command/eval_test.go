package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/command/internal/evaluate"
	"github.com/nl-hecate/hecate/generated/registry"
)

// TestEval runs every task for two updates of two models, and wants a table, plots and no
// number that is missing.
func TestEval(t *testing.T) {
	out := filepath.Join(t.TempDir(), "eval")
	var w, errs bytes.Buffer
	args := []string{"eval", "--rules", "DeltaRule", "--steps", "2", "--text", "text/crossroads.txt", "--out", out}
	if status := run(context.Background(), registry.All(), args, nil, &w, &errs); status != fine {
		t.Fatal(errs.String())
	}
	page, err := os.ReadFile(filepath.Join(out, "eval.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range taskNames {
		if !strings.Contains(string(page), "\n## "+n+"\n") {
			t.Errorf("no table of %s", n)
		}
		for _, ext := range []string{".svg", ".png"} {
			if info, err := os.Stat(filepath.Join(out, n+ext)); err != nil || info.Size() == 0 {
				t.Errorf("%s%s: %v", n, ext, err)
			}
		}
	}
	for n, percent := range map[string]bool{"mqar": true, "length": false} {
		if svg, err := os.ReadFile(filepath.Join(out, n+".svg")); err != nil || strings.Contains(string(svg), "100 %") != percent {
			t.Errorf("%s: %v; an axis of percent is wanted: %t", n, err, percent)
		}
	}
	if got := strings.Count(string(page), "| DeltaRule |"); got != len(taskNames) || strings.Contains(string(page), "diverged") {
		t.Errorf("DeltaRule has %d rows:\n%s", got, page)
	}
}

// A stopper cancels when a line begins with a text.
type stopper struct {
	at     string
	cancel func()
}

func (s stopper) Write(line []byte) (int, error) {
	if strings.HasPrefix(string(line), s.at) {
		s.cancel()
	}
	return len(line), nil
}

// TestEvalInterrupted interrupts the second task, and wants the first written and named.
func TestEvalInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "eval")
	ctx, cancel := context.WithCancel(context.Background())
	o := evaluate.Options{Catalog: registry.All(), Rules: []string{"DeltaRule"}, Tasks: []string{"needle", "copy"}, Steps: 1}
	err := eval(ctx, io.Discard, stopper{"copy: attention alone", cancel}, o, out)
	if path := filepath.Join(out, "eval.md"); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want one of an interruption that names %s", err, path)
	}
	page, err := os.ReadFile(filepath.Join(out, "eval.md"))
	if err != nil || !strings.Contains(string(page), "## needle") || strings.Contains(string(page), "## copy") {
		t.Errorf("%v:\n%s", err, page)
	}
}

// TestEvalRefuses wants one line for a wrong name or number, and nothing written.
func TestEvalRefuses(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"--rules", "DeltaRul", `there is no rule "DeltaRul"; did you mean "DeltaRule"?`},
		{"--tasks", "mqar,needles", `there is no task "needles"; did you mean "needle"?`},
		{"--steps", "0", "--steps is 0, must be at least 1"},
	} {
		out := filepath.Join(t.TempDir(), "eval")
		var w, errs bytes.Buffer
		if status := run(context.Background(), registry.All(), []string{"eval", c.flag, c.value, "--out", out}, nil, &w, &errs); status != usage {
			t.Errorf("%s %s: status %d", c.flag, c.value, status)
		}
		if !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") > 1 {
			t.Errorf("%s %s: %q, want %q", c.flag, c.value, errs.String(), c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s %s: a folder was written", c.flag, c.value)
		}
	}
}
