// Command gen writes bench/kernel from bench/page. It runs in the project's
// root:
//
//	go run ./bench/gen
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nl-hecate/hecate/bench/core"
)

func main() {
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "bench/gen:", err)
		os.Exit(1)
	}
}

func write() error {
	files, err := core.Files(".")
	if err != nil {
		return err
	}
	old, err := filepath.Glob("bench/kernel/*/*")
	if err != nil {
		return err
	}
	for _, path := range old {
		if files[filepath.ToSlash(path)] == nil {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for path, text := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
