package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nl-hecate/hecate/runtime/tensor"
)

// small is a file of a few bytes.
func small(t testing.TB) *Snapshot {
	t.Helper()
	s := &Snapshot{}
	if err := Add(s, "w", tensor.Shape{2}, []float32{1, 2}); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestFullDisk saves where there is room for half of the file: in a process whose
// files may not grow further, for the kernel then refuses the write as a full
// disk does. There is one error, the last good checkpoint is as it was, and
// nothing is left.
func TestFullDisk(t *testing.T) {
	const env = "HECATE_CHECKPOINT_FULL"
	if path := os.Getenv(env); path != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 19, Max: 1 << 19}); err != nil {
			fmt.Println("no limit:", err)
			os.Exit(4)
		}
		fmt.Println(Write(path, big(t)))
		fmt.Println(Write(filepath.Join(filepath.Dir(path), "run-8.safetensors"), big(t)))
		os.Exit(3)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "c.safetensors")
	if err := Write(path, small(t)); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "run-7.safetensors"), small(t)); err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), env+"="+path)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Fatalf("the writer: %v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 2 {
		t.Fatalf("the writer says %q", out)
	}
	for _, l := range lines {
		if !strings.HasPrefix(l, "write checkpoint: write "+dir) || !strings.HasSuffix(l, "file too large") {
			t.Errorf("the error is %q", l)
		}
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, old) {
		t.Errorf("the last good checkpoint changed: %v", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("a failed save left %v: %v", entries, err)
	}
}

// TestFullDevice writes where there is no room at all.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	s := &Snapshot{}
	if err := Add(s, "w", tensor.Shape{3}, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.WriteTo(full); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, want no space left", err)
	}
}
