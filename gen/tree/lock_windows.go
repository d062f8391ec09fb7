package tree

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// unlinkFirst: an open file cannot lose its name here.
const unlinkFirst = false

const errSharingViolation syscall.Errno = 32

// lockFile opens the lock file for itself alone, or returns errHeld. Others may
// read who holds it; the system closes it when the process ends.
func lockFile(root *os.Root, name string) (*os.File, error) {
	full := filepath.Join(root.Name(), filepath.FromSlash(name))
	p, err := syscall.UTF16PtrFromString(full)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(p, syscall.GENERIC_READ|syscall.GENERIC_WRITE, syscall.FILE_SHARE_READ,
		nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, errSharingViolation) {
		return nil, errHeld
	}
	if err != nil {
		return nil, &os.PathError{Op: "lock", Path: full, Err: err}
	}
	return os.NewFile(uintptr(h), full), nil
}

func cannotSync(error) bool { return true }
