// Package atomicfile writes files atomically: whole or not at all.
package atomicfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// tempEnd ends the name of a temporary file, .NAME.RANDOM.tmp.
const tempEnd = ".tmp"

// Write writes a file with fill and renames it to path: a temporary file in the same
// folder is filled, synced and renamed, and the folder synced. On an error, or if the
// process dies, path is what it was before; a killed process leaves its temporary
// file, which the next Write of that path removes. A path has one writer at a time.
func Write(path string, fill func(*os.File) error) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	removeStale(dir, base)
	f, err := os.CreateTemp(dir, "."+base+".*"+tempEnd)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close() // a second Close is harmless
			os.Remove(f.Name())
		}
	}()
	if err = fill(f); err != nil {
		return err
	}
	const readable = 0o644 // CreateTemp's files are private
	if err = f.Chmod(readable); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// removeStale removes the temporary files that killed writers of a file have left.
// One that cannot be removed does no harm.
func removeStale(dir, base string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // creating the temporary file reports the error
	}
	for _, e := range entries {
		random, ours := strings.CutPrefix(e.Name(), "."+base+".")
		random, temp := strings.CutSuffix(random, tempEnd)
		if ours && temp && random != "" && strings.Trim(random, "0123456789") == "" {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// syncDir makes a rename durable. Windows has no such call for a folder.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
