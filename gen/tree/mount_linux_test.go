package tree

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRealMounts repeats the full disk and the read-only target on a small
// tmpfs, in a child with its own mount table.
func TestRealMounts(t *testing.T) {
	const key = "HECATE_TREE_MOUNTS"
	if os.Getenv(key) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestRealMounts$", "-test.v")
		cmd.Env = append(os.Environ(), key+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
		out, err := cmd.CombinedOutput()
		switch {
		case errors.Is(err, syscall.EPERM) || strings.Contains(string(out), "SKIP"):
			t.Skipf("no right to mount (TestEveryOp simulates it): %v\n%s", err, out)
		case err != nil:
			t.Errorf("%v\n%s", err, out)
		default:
			t.Logf("%s", out)
		}
		return
	}
	root := t.TempDir()
	if err := syscall.Mount("tmpfs", root, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip(err)
	}
	defer syscall.Unmount(root, 0)
	owned := []string{"g"}
	small := files(map[string]string{"g/a.go": mark + "1", "g/old/b.go": mark})
	if _, err := Apply(root, owned, small); err != nil {
		t.Fatal(err)
	}
	before := get(t, root)
	big := Files{"g/a.go": []byte(mark + "2"), "g/new/c.go": []byte(mark + strings.Repeat("x", 400_000))}
	refused := func(want Files, errno syscall.Errno) {
		t.Helper()
		if _, err := Apply(root, owned, want); !errors.Is(err, errno) {
			t.Errorf("Apply = %v, want %v", err, errno)
		} else {
			t.Log(err)
		}
		if diff := cmp.Diff(before, get(t, root)); diff != "" {
			t.Errorf("tree (-want +got):\n%s", diff)
		}
	}
	refused(big, syscall.ENOSPC)
	if err := syscall.Mount("tmpfs", root, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	refused(big, syscall.EROFS)
	if rep, err := Apply(root, owned, small); err != nil || rep.Kept != 2 {
		t.Errorf("a read-only tree that is right = %+v, %v", rep, err)
	}
	if d, err := Check(root, owned, big); err != nil || d.None() {
		t.Errorf("Check of a read-only tree = %v, %v", d, err)
	}
}
