package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMain builds and runs the tests a second time, with the recurrences. What they print is not
// cached: the go command does not see that they depend on the pages.
func TestMain(m *testing.M) {
	flag.Parse()
	if len(emitted) > 0 {
		os.Exit(m.Run())
	}
	if err := withKernels(); err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(exit.ExitCode())
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func withKernels() error {
	dir, err := os.MkdirTemp("", "hecate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "bench.test")
	err = again("../..", func(overlay string) *exec.Cmd {
		return exec.Command("go", "test", "-c", "-overlay", overlay, "-o", binary, ".")
	})
	if err != nil {
		return err
	}
	args := slices.DeleteFunc(os.Args[1:], func(a string) bool { return strings.HasPrefix(a, "-test.testlogfile") })
	c := exec.Command(binary, args...)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c.Run()
}
