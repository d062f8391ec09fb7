package tree

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestUnreadable: the error of a file that cannot be read has its whole path.
func TestUnreadable(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"generated/ops/a.go": mark})
	for name, mode := range map[string]os.FileMode{"..": 0o755, "generated/ops/a.go": 0} {
		if err := os.Chmod(filepath.Join(root, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	asNobody(t, func() {
		_, err := Check(root, []string{"generated"}, files(map[string]string{"generated/ops/a.go": mark}))
		if err == nil || !strings.Contains(err.Error(), " generated/ops/a.go: permission denied") {
			t.Errorf("Check = %v", err)
		}
	})
}

// asNobody runs f on a thread that may not read every file, whoever runs the tests.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	runtime.LockOSThread()
	const nobody = 65534
	was, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0)
	defer func() {
		syscall.RawSyscall(syscall.SYS_SETFSUID, was, 0, 0)
		runtime.UnlockOSThread()
	}()
	f()
}
