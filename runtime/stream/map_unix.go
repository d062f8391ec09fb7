//go:build unix

package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the n bytes of a file, mapped and not to be written.
func mapFile(f *os.File, n int) ([]byte, error) {
	return unix.Mmap(int(f.Fd()), 0, n, unix.PROT_READ, unix.MAP_SHARED)
}

func unmap(data []byte) error { return unix.Munmap(data) }
