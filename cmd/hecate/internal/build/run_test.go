package build

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/module"
)

// TestDiverges builds at a rate at which no model lives: the error says what went
// bad first, and the last good checkpoint is there to go on from.
func TestDiverges(t *testing.T) {
	o := victim(t, "DeltaRule", t.TempDir())
	o.Rate, o.Clip = 1e30, 0
	err := Run(context.Background(), rules(), o, Fallback{}, io.Discard)
	var bad *module.BadNumber
	if !errors.As(err, &bad) || bad.Tensor == "" || bad.Level != 0 || !strings.Contains(err.Error(), "the build has diverged at step ") {
		t.Fatalf("a build at a rate of 1e30: %v", err)
	}
	s := checkpoint.Series{Dir: o.Out, Name: "deltarule"}
	m, ok, err := s.Latest()
	if err != nil || !ok || m.Step != bad.Step {
		t.Fatalf("the last checkpoint is %+v, %v, of a build that went bad at step %d", m, err, bad.Step+1)
	}
	if _, err := checkpoint.Read(m.Path); err != nil {
		t.Error(err)
	}
	if names, _ := filepath.Glob(filepath.Join(o.Out, "deltarule.*")); len(names) > 0 {
		t.Errorf("a build that went bad wrote %v", names)
	}
}

// TestAuto goes on from whatever has the most steps behind it, and begins where
// there is nothing.
func TestAuto(t *testing.T) {
	o := victim(t, "Hebbian", t.TempDir())
	o.Steps, o.Every, o.Keep = 4, 3, 0
	var said bytes.Buffer
	run := func() error {
		said.Reset()
		return Run(context.Background(), rules(), o, Fallback{}, &said)
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	end := filepath.Join(o.Out, "hebbian.safetensors")
	first, err := os.ReadFile(end)
	if err != nil {
		t.Fatal(err)
	}
	if err := run(); err != nil || strings.Contains(said.String(), "before: ") {
		t.Errorf("a build at its end measures again: %v\n%s", err, said.String())
	}
	if again, err := os.ReadFile(end); err != nil || !bytes.Equal(again, first) {
		t.Errorf("a build at its end went on: %v", err)
	}
	o.Steps = 5
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(end); err != nil {
		t.Fatal(err)
	}
	o.Steps = 4
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(end); err != nil || !bytes.Equal(again, first) {
		t.Errorf("from step 3 the build came to another end: %v", err)
	}
	if err := os.WriteFile(end, first[:len(first)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(); err == nil || !strings.Contains(err.Error(), "resume: "+end) || !errors.Is(err, checkpoint.ErrTruncated) {
		t.Errorf("a damaged checkpoint was passed over: %v", err)
	}
}

// TestResumeIsRefused: another specification or text, and the file that is to be
// gone on from is not touched.
func TestResumeIsRefused(t *testing.T) {
	o := victim(t, "Hebbian", t.TempDir())
	o.Steps, o.Every = 3, 0
	c := rules()
	c.Spec = "abc"
	if err := Run(context.Background(), c, o, Fallback{}, io.Discard); err != nil {
		t.Fatal(err)
	}
	end := filepath.Join(o.Out, "hebbian.safetensors")
	good, err := os.ReadFile(end)
	if err != nil {
		t.Fatal(err)
	}
	for what, x := range map[string]struct {
		spoil func()
		want  string
	}{
		"specification": {func() { c.Spec = "abd" }, "the specification of the run differs: saved abc, here abd"},
		"text":          {func() { c.Spec = "abc"; _ = os.WriteFile(o.Text, []byte(strings.ToUpper(prose[:420])), 0o644) }, "dataset digest of slot 0 differs"},
	} {
		x.spoil()
		err := Run(context.Background(), c, o, Fallback{}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), "resume "+end) || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", what, err, x.want)
		}
		if now, err := os.ReadFile(end); err != nil || !bytes.Equal(now, good) {
			t.Errorf("%s: the checkpoint changed: %v", what, err)
		}
		_ = os.WriteFile(o.Text, []byte(prose[:420]), 0o644)
	}
}
