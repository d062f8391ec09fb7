package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tableVersion is the NVRTC whose registers the table holds.
const (
	tableVersion = "11.8"
	compilerName = "nvrtc " + tableVersion
)

//go:embed driver/nvrtc.c
var driverText []byte

// A library is an NVRTC and the program that calls it.
type library struct {
	driver, path, version string
}

var errNoLibrary = errors.New("there is no NVRTC: run .ci/nvrtc, or name libnvrtc.so in HECATE_NVRTC")

// openLibrary finds an NVRTC. The driver is built in the folder work.
func openLibrary(work string) (*library, error) {
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, err
	}
	driver, err := buildDriver(work)
	if err != nil {
		return nil, err
	}
	said := ""
	for _, path := range candidates() {
		l := &library{driver: driver, path: path}
		out, err := l.command("version").CombinedOutput()
		if err == nil {
			l.version = strings.TrimSpace(string(out))
			return l, nil
		}
		said += "\n  " + strings.TrimSpace(string(out))
	}
	return nil, fmt.Errorf("%w%s", errNoLibrary, said)
}

// candidates are where NVRTC may be, the wanted version first.
func candidates() []string {
	if named := os.Getenv("HECATE_NVRTC"); named != "" {
		return []string{named}
	}
	fetched, _ := filepath.Glob(filepath.Join("out", "nvrtc", "libnvrtc.so.*"))
	return append(fetched, "libnvrtc.so.11.2", "libnvrtc.so.12", "libnvrtc.so.13", "libnvrtc.so")
}

// command calls the driver. NVRTC looks for its other half where the loader
// does, so the library's own folder is added there.
func (l *library) command(args ...string) *exec.Cmd {
	cmd := exec.Command(l.driver, append([]string{l.path}, args...)...)
	if dir := filepath.Dir(l.path); dir != "." {
		if abs, err := filepath.Abs(dir); err == nil {
			cmd.Env = append(os.Environ(), "LD_LIBRARY_PATH="+abs+":"+os.Getenv("LD_LIBRARY_PATH"))
		}
	}
	return cmd
}

// buildDriver compiles the C program.
func buildDriver(work string) (string, error) {
	source, driver := filepath.Join(work, "nvrtc.c"), filepath.Join(work, "nvrtc")
	if err := os.WriteFile(source, driverText, 0o644); err != nil {
		return "", err
	}
	out, err := exec.Command("cc", "-O1", "-Wall", "-Wextra", "-Werror", source, "-o", driver, "-ldl").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("the driver is not built: %w\n%s", err, out)
	}
	return filepath.Abs(driver)
}
