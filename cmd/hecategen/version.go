package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
)

func versionCommand() *command {
	c := newCommand("version", "", "print the version of this compiler", "Print the module's version, the revision it was built from and the Go that built it.", 0, 0)
	c.run = func(_ []string, out, _ io.Writer) int {
		version, revision := "(devel)", ""
		if info, ok := debug.ReadBuildInfo(); ok {
			if info.Main.Version != "" {
				version = info.Main.Version
			}
			for _, s := range info.Settings {
				if s.Key == "vcs.revision" {
					revision = " " + s.Value
				}
			}
		}
		fmt.Fprintf(out, "hecategen %s%s %s %s/%s\n", version, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		return fine
	}
	return c
}
