//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package tree

import (
	"errors"
	"os"
	"syscall"
)

// unlinkFirst: the name goes while the lock is held, so whoever gets the lock
// later can see that the file has no name any more.
const unlinkFirst = true

// lockFile opens the lock file and locks it, or returns errHeld.
func lockFile(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, &os.PathError{Op: "flock", Path: name, Err: err}
}

func cannotSync(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}
