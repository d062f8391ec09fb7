package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/nl-hecate/hecate"
	"github.com/nl-hecate/hecate/gen/project"
)

func defineVersion(c *command) runFunc {
	return func(_ []string, out, _ io.Writer) (int, error) {
		fmt.Fprintln(out, versionLine())
		return exitOK, nil
	}
}

// versionLine is what version prints.
func versionLine() string {
	revision, pages := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	if d, err := project.Digest(hecate.Specs); err == nil {
		pages = " pages " + d[:12]
	}
	return fmt.Sprintf("hecategen %s%s%s %s %s/%s", project.Version(), revision, pages, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
