//go:build !unix

package stream

import (
	"io"
	"os"
)

// mapFile returns the n bytes of a file, read into memory.
func mapFile(f *os.File, n int) ([]byte, error) {
	data := make([]byte, n)
	_, err := io.ReadFull(f, data)
	return data, err
}

func unmap([]byte) error { return nil }
