package tree

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errKilled = errors.New("killed")

// A fault breaks the disk from its op number at (from 0) on.
type fault struct {
	at    int
	mode  string
	count int // ops so far
	fired bool
	trace []string
}

// The ways to break: "kill" does nothing any more, as after SIGKILL; "tear" is a
// kill in the middle of a write; "full" has no room for anything new; "once"
// fails one op; "readonly" refuses everything; "never" breaks nothing. With
// "nolinks " before it, the file system has no second names.
var modes = []string{"kill", "tear", "full", "once", "readonly", "nolinks kill", "nolinks full"}

func (f *fault) wrap(real disk) disk {
	return func(o op) error {
		f.trace = append(f.trace, o.String())
		mode, nolinks := strings.CutPrefix(f.mode, "nolinks ")
		n := f.count
		f.count++
		fresh := o.verb == mkdir || o.verb == write || o.verb == link
		switch {
		case nolinks && o.verb == link:
			return syscall.EPERM
		case n < f.at || mode == "never":
		case mode == "kill", mode == "tear":
			if first := !f.fired; first && mode == "tear" && o.verb == write {
				o.data = o.data[:len(o.data)/2]
				real(o)
			}
			f.fired = true
			return errKilled
		case mode == "full" && fresh:
			f.fired = true
			if o.verb == write {
				o.data = o.data[:len(o.data)/2]
				real(o)
			}
			return syscall.ENOSPC
		case mode == "once" && n == f.at:
			f.fired = true
			return syscall.EIO
		case mode == "readonly":
			f.fired = true
			return syscall.EROFS
		}
		return real(o)
	}
}

// unsynced leaves out what only a lost power line would show.
func unsynced(root string, inner wrapper) wrapper {
	return func(real disk) disk {
		return inner(func(o op) error {
			switch o.verb {
			case syncDir:
				_, err := os.Stat(root + "/" + o.path)
				return err
			case write:
				f, err := os.OpenFile(root+"/"+o.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
				if err != nil {
					return err
				}
				_, err = f.Write(o.data)
				return errors.Join(err, f.Close())
			}
			return real(o)
		})
	}
}

// randomTree draws names from so small a set that two trees collide in every
// way: a file here is a folder there.
func randomTree(rng *rand.Rand) map[string]string {
	want := map[string]string{}
	for range rng.IntN(9) {
		p := []string{"g", "c/k"}[rng.IntN(2)]
		for range 1 + rng.IntN(3) {
			p += "/" + string("abc"[rng.IntN(3)])
		}
		text := []string{mark, "{}"}[rng.IntN(2)] + fmt.Sprint(rng.IntN(2))
		clash := func(q string) bool { return q == p || within(q, p) || within(p, q) }
		if !slices.ContainsFunc(slices.Collect(maps.Keys(want)), clash) {
			want[p] = text
		}
	}
	return want
}

var twoOwned = []string{"g", "c/k"}

// settled returns what root holds once want is applied to an empty root.
func settled(t *testing.T, want map[string]string) map[string]string {
	t.Helper()
	root := t.TempDir()
	if _, err := apply(root, twoOwned, files(want), unsynced(root, direct)); err != nil {
		t.Fatal(err)
	}
	return get(t, root)
}

// TestEveryOp breaks Apply at every op in every way and looks at the tree, then
// at what Recover or the next Apply makes of it.
func TestEveryOp(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	pairs := 5
	if testing.Short() {
		pairs = 2
	}
	for pair := range pairs {
		before, after := randomTree(rng), randomTree(rng)
		old := settled(t, before)
		base := t.TempDir()
		put(t, base, old)
		if _, err := apply(base, twoOwned, files(after), unsynced(base, direct)); err != nil {
			t.Fatal(err)
		}
		fresh := get(t, base)
		for _, mode := range modes {
			for at := 0; ; at++ {
				f := &fault{at: at, mode: mode}
				name := fmt.Sprintf("seed %d pair %d %s at %d", seed, pair, mode, at)
				breakOnce(t, name, f, old, fresh, before, after, at%3)
				if !f.fired || t.Failed() {
					break
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

func breakOnce(t *testing.T, name string, f *fault, old, fresh, before, after map[string]string, cure int) {
	root := scratch(t)
	defer os.RemoveAll(root)
	put(t, root, old)
	_, err := apply(root, twoOwned, files(after), unsynced(root, f.wrap))
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s: %s\nApply = %v\nops:\n%s", name, fmt.Sprintf(format, args...), err, strings.Join(f.trace, "\n"))
	}
	now := get(t, root)
	left := maps.Clone(now)
	maps.DeleteFunc(left, func(p, _ string) bool { return strings.HasPrefix(p, workDir) })
	whole := maps.Equal(left, old) || maps.Equal(left, fresh)
	for p, text := range left {
		if strings.HasSuffix(p, "/") {
			continue
		}
		if (old[p] != text || !has(old, p)) && (fresh[p] != text || !has(fresh, p)) {
			fail("%s is torn: %q", p, text)
		}
	}
	for p := range old {
		if has(fresh, p) && !strings.HasSuffix(p, "/") && !has(left, p) {
			fail("%s is in neither state", p)
		}
	}
	d, derr := Check(root, twoOwned, files(after))
	if derr != nil || len(d.Stray) > 0 || !whole && !d.Mixed {
		fail("Check = %v, %v; whole = %v", d, derr, whole)
	}
	// What can be put right at once, is.
	if strings.HasSuffix(f.mode, "full") {
		if !maps.Equal(now, old) && !maps.Equal(now, fresh) || err == nil != maps.Equal(now, fresh) && !maps.Equal(old, fresh) {
			fail("disk full left %v", now)
		}
	}
	if err == nil && !maps.Equal(now, fresh) {
		fail("no error, but the tree is %v", now)
	}
	if err != nil && strings.Contains(err.Error(), "nothing changed") && !maps.Equal(left, old) {
		fail("the error is wrong: %v", left)
	}
	var rerr error
	allowed := []map[string]string{old, fresh}
	switch cure {
	case 0:
		_, rerr = recoverTree(root, unsynced(root, direct))
	case 1:
		_, rerr = apply(root, twoOwned, files(after), unsynced(root, direct))
		allowed = allowed[1:]
	case 2:
		_, rerr = apply(root, twoOwned, files(before), unsynced(root, direct))
		allowed = allowed[:1]
	}
	got := get(t, root)
	if cure == 2 && !has(old, "c/") {
		delete(got, "c/") // made on the way there; above an owned folder it is nobody's
	}
	if rerr != nil || !maps.Equal(got, allowed[0]) && !maps.Equal(got, allowed[len(allowed)-1]) {
		fail("cure %d = %v, tree is neither old nor new:\n%s", cure, rerr, cmp.Diff(allowed[0], got)+"\nor\n"+cmp.Diff(allowed[len(allowed)-1], got))
	}
}

func has(m map[string]string, p string) bool { _, ok := m[p]; return ok }

// scratch returns a folder in memory where there is one; thousands of runs use it.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "hecate-tree-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestKilledTwice kills the recovery of a kill, at every pair of ops.
func TestKilledTwice(t *testing.T) {
	const seed = 2
	rng := rand.New(rand.NewPCG(seed, 0))
	pairs := 1
	for pair := range pairs {
		before, after := randomTree(rng), randomTree(rng)
		old := settled(t, before)
		base := t.TempDir()
		put(t, base, old)
		if _, err := apply(base, twoOwned, files(after), unsynced(base, direct)); err != nil {
			t.Fatal(err)
		}
		fresh := get(t, base)
		for at := 0; ; at++ {
			first := &fault{at: at, mode: "kill"}
			for again := 0; ; again++ {
				root := scratch(t)
				put(t, root, old)
				first = &fault{at: at, mode: "kill"}
				apply(root, twoOwned, files(after), unsynced(root, first.wrap))
				second := &fault{at: again, mode: []string{"kill", "tear", "once"}[again%3]}
				if at%2 == 0 {
					damage(t, root, at/2) // and thus an undo
				}
				recoverTree(root, unsynced(root, second.wrap))
				_, err := recoverTree(root, unsynced(root, direct))
				got := get(t, root)
				if err != nil || !maps.Equal(got, old) && !maps.Equal(got, fresh) {
					t.Fatalf("seed %d pair %d killed at %d, then %s at %d: %v\n%s\n%s", seed, pair, at, second.mode, again, err,
						cmp.Diff(old, got), strings.Join(second.trace, "\n"))
				}
				os.RemoveAll(root)
				if !second.fired {
					break
				}
			}
			if !first.fired {
				break
			}
		}
	}
}

// damage breaks one staged file, as a lost power line may, if no target has
// been replaced yet.
func damage(t *testing.T, root string, pick int) {
	t.Helper()
	dir := root + "/" + newDir
	entries, _ := os.ReadDir(dir)
	entries = slices.DeleteFunc(entries, os.DirEntry.IsDir)
	if len(entries) == 0 {
		return
	}
	if err := os.WriteFile(dir+"/"+entries[pick%len(entries)].Name(), []byte("?"), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestProtocol shows the ops of one small change in order. Bytes and names are
// on the medium before anything relies on them.
func TestProtocol(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"g/changed.go": mark, "g/old/x.go": mark})
	f := &fault{mode: "never"}
	_, err := apply(root, []string{"g"}, files(map[string]string{"g/changed.go": mark + "2", "g/new/x.go": mark}), f.wrap)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(`
mkdir .hecategen
remove .hecategen/journal.json.new
remove .hecategen/.gitignore
mkdir .hecategen/new
mkdir .hecategen/old
write .hecategen/.gitignore
mkdir .hecategen/new/dir0
mkdir .hecategen/old/dir0
link g/changed.go .hecategen/old/0
write .hecategen/new/0
write .hecategen/new/1
link g/old/x.go .hecategen/old/2
sync .hecategen/new
sync .hecategen/old
sync .
write .hecategen/journal.json.new
rename .hecategen/journal.json.new .hecategen/journal.json
sync .hecategen
remove g/old/x.go
remove g/old
rename .hecategen/new/dir0 g/new
rename .hecategen/new/0 g/changed.go
rename .hecategen/new/1 g/new/x.go
sync g
sync g/new
remove .hecategen/journal.json
sync .hecategen
remove .hecategen/new
remove .hecategen/old/0
remove .hecategen/old/2
remove .hecategen/old/dir0
remove .hecategen/old
remove .hecategen/journal.json.new
remove .hecategen/.gitignore
remove .hecategen/journal.json.new
remove .hecategen/.gitignore
remove .hecategen/lock
remove .hecategen
`), "\n")
	if diff := cmp.Diff(want, f.trace); diff != "" {
		t.Errorf("ops (-want +got):\n%s", diff)
	}
}
