//go:build !(darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd || windows)

package tree

import (
	"errors"
	"io/fs"
	"os"
)

// unlinkFirst: as on Unix.
const unlinkFirst = true

// lockFile creates the lock file; its presence is the lock. These systems have none
// that ends with the process, so after a kill the file must be removed by hand.
func lockFile(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return nil, errHeld
	}
	return f, err
}

func cannotSync(error) bool { return true }
