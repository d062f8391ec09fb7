package checkpoint

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Write puts the snapshot at path, whole or not at all: it writes a temporary
// file beside it, syncs, renames and syncs the folder. On an error, or if the
// process dies, path is what it was before; a killed process leaves its
// temporary file (.NAME.*.tmp), which the next Write of that path removes:
// a path has one writer at a time.
func Write(path string, s *Snapshot) error {
	err := replace(path, func(w io.Writer) error {
		_, err := s.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// WriteFile puts data at path in the same way: what belongs beside a checkpoint.
func WriteFile(path string, data []byte) error {
	return replace(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Read reads the snapshot at path. The error is the file system's or an *Error.
func Read(path string) (*Snapshot, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	s, err := Decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// replace writes a file through fill and puts it in the place of path.
func replace(path string, fill func(io.Writer) error) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	sweep(dir, func(name string) bool { return name == base })
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
	w := bufio.NewWriterSize(f, 1<<20)
	if err = fill(w); err != nil {
		return err
	}
	if err = w.Flush(); err != nil {
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

const tempEnd = ".tmp"

// sweep removes the temporary files in a folder that dead writers have left, of
// the files that ours says. One that cannot be removed does no harm.
func sweep(dir string, ours func(base string) bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the write will say so
	}
	for _, e := range entries {
		name, hidden := strings.CutPrefix(e.Name(), ".")
		name, tmp := strings.CutSuffix(name, tempEnd)
		base := strings.TrimRight(name, "0123456789")
		if hidden && tmp && base != name && strings.HasSuffix(base, ".") && ours(base[:len(base)-1]) {
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
