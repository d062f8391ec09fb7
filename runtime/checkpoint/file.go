package checkpoint

import (
	"bufio"
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"
)

// Write writes the snapshot to path atomically (package atomicfile): on an error, or
// if the process dies, path is what it was before. A path has one writer at a time.
func Write(path string, s *Snapshot) error {
	err := atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		if _, err := s.WriteTo(w); err != nil {
			return err
		}
		return w.Flush()
	})
	if err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	return nil
}

// WriteFile writes data to path in the same way, for files that belong to a checkpoint.
func WriteFile(path string, data []byte) error {
	return atomicfile.Write(path, func(f *os.File) error {
		_, err := f.Write(data)
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
