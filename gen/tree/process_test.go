package tree

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The test binary is its own child: HECATE_TREE_CHILD is what it does, to the
// tree in HECATE_TREE_ROOT.
func TestMain(m *testing.M) {
	if what := os.Getenv("HECATE_TREE_CHILD"); what != "" {
		if err := child(what, os.Getenv("HECATE_TREE_ROOT")); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func child(what, root string) error {
	switch what {
	case "hold":
		r, err := open(root)
		if err != nil {
			return err
		}
		if _, err := begin(r, direct); err != nil {
			return err
		}
		fmt.Println("go")
		time.Sleep(time.Minute)
		return nil
	case "loop":
		fmt.Println("go")
		for i := 0; ; i++ {
			if _, err := Apply(root, twoOwned, crowd(i%2)); err != nil {
				return err
			}
		}
	case "race0", "race1":
		lockWait = time.Minute
		for range 15 {
			if _, err := Apply(root, twoOwned, crowd(int(what[4]-'0'))); err != nil {
				return err
			}
		}
		return nil
	}
	return fmt.Errorf("unknown child %q", what)
}

// crowd returns one of two trees: most names in both, some in one, and names
// that are a file in one and a folder in the other.
func crowd(which int) Files {
	want := Files{}
	text := strings.Repeat(fmt.Sprintf("// tree %d\n", which), 1000)
	for i := range 20 {
		want[fmt.Sprintf("g/p%d/both%d.go", i%4, i)] = []byte(mark + text)
		want[fmt.Sprintf("c/k/only%d_%d.json", which, i)] = []byte(text)
	}
	want[[]string{"g/turn", "g/turn/x/y"}[which]] = []byte(mark + text)
	want[[]string{"c/k/nrut/x/y", "c/k/nrut"}[which]] = []byte(mark + text)
	return want
}

func start(t *testing.T, what, root string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "HECATE_TREE_CHILD="+what, "HECATE_TREE_ROOT="+root)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return cmd, bufio.NewReader(out)
}

// TestSIGKILL kills a process that writes one tree after the other, at random
// moments.
func TestSIGKILL(t *testing.T) {
	const seed = 3
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	var either []map[string]string
	for which := range 2 {
		root := t.TempDir()
		if _, err := Apply(root, twoOwned, crowd(which)); err != nil {
			t.Fatal(err)
		}
		either = append(either, get(t, root))
	}
	root := t.TempDir()
	put(t, root, either[1])
	outcomes := map[Recovery]int{}
	mixed, leftover := 0, 0
	for round := range rounds {
		cmd, out := start(t, "loop", root)
		if line, err := out.ReadString('\n'); line != "go\n" {
			t.Fatalf("child says %q, %v", line, err)
		}
		if round%2 == 0 {
			time.Sleep(time.Duration(rng.IntN(60_000)) * time.Microsecond)
		} else { // most of the time goes into staging, so wait for the rest
			awaitFile(filepath.Join(root, workDir, journalName))
			time.Sleep(time.Duration(rng.IntN(5_000)) * time.Microsecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		d, err := Check(root, twoOwned, crowd(0))
		if err != nil || len(d.Stray) > 0 {
			t.Fatalf("seed %d round %d: Check = %v, %v", seed, round, d, err)
		}
		r, _ := open(root)
		if !idle(r) {
			leftover++
		}
		r.Close()
		if d.Mixed {
			mixed++
		} else {
			now := get(t, root)
			maps.DeleteFunc(now, func(p, _ string) bool { return strings.HasPrefix(p, workDir) })
			if !maps.Equal(now, either[0]) && !maps.Equal(now, either[1]) {
				t.Fatalf("seed %d round %d: no journal, and neither tree", seed, round)
			}
		}
		rec, err := Recover(root)
		if err != nil {
			t.Fatalf("seed %d round %d: %v", seed, round, err)
		}
		outcomes[rec]++
		if got := get(t, root); !maps.Equal(got, either[0]) && !maps.Equal(got, either[1]) {
			t.Fatalf("seed %d round %d: neither tree: %s", seed, round, cmp.Diff(either[0], got))
		}
	}
	t.Logf("seed %d: %d kills, %d left a folder, %d a journal; %v", seed, rounds, leftover, mixed, outcomes)
}

func awaitFile(name string) {
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		if _, err := os.Lstat(name); err == nil {
			return
		}
	}
}

// TestTwoProcesses: each waits for the other; a reader sees no torn file.
func TestTwoProcesses(t *testing.T) {
	root := t.TempDir()
	a, outA := start(t, "race0", root)
	b, outB := start(t, "race1", root)
	done := make(chan error, 2)
	for _, c := range []struct {
		cmd *exec.Cmd
		out *bufio.Reader
	}{{a, outA}, {b, outB}} {
		go func() {
			said, _ := c.out.ReadString(0)
			err := c.cmd.Wait()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, said)
			}
			done <- err
		}()
	}
	trees := []Files{crowd(0), crowd(1)}
	reads := 0
	for running := 2; running > 0; {
		select {
		case err := <-done:
			running--
			if err != nil {
				t.Error(err)
			}
		default:
			for p := range trees[0] {
				data, err := os.ReadFile(filepath.Join(root, p))
				if err != nil {
					continue
				}
				reads++
				if s := string(data); s != string(trees[0][p]) && s != string(trees[1][p]) {
					t.Fatalf("%s is torn", p)
				}
			}
		}
	}
	var hits int
	for _, want := range trees {
		d, err := Check(root, twoOwned, want)
		if err != nil {
			t.Fatal(err)
		}
		if d.None() {
			hits++
		}
	}
	if hits != 1 || reads == 0 {
		t.Errorf("the last of two processes left neither tree (%d reads)", reads)
	}
	if _, err := os.Lstat(filepath.Join(root, workDir)); err == nil {
		t.Errorf("%s is left", workDir)
	}
}

func TestHeldLock(t *testing.T) {
	root := t.TempDir()
	cmd, out := start(t, "hold", root)
	if line, err := out.ReadString('\n'); line != "go\n" {
		t.Fatalf("child says %q, %v", line, err)
	}
	defer func(d time.Duration) { lockWait = d }(lockWait)
	lockWait = 30 * time.Millisecond
	want := files(map[string]string{"g/a.go": mark})
	_, err := Apply(root, twoOwned, want)
	if who := fmt.Sprintf("in use by process %d on ", cmd.Process.Pid); err == nil || !strings.Contains(err.Error(), who) {
		t.Errorf("Apply = %v, want %q", err, who)
	}
	if _, err := os.Stat(filepath.Join(root, "g")); err == nil {
		t.Error("it wrote without the lock")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if _, err := Apply(root, twoOwned, want); err != nil {
		t.Errorf("the lock of a killed process: %v", err)
	}
	if diff := cmp.Diff(map[string]string{"g/a.go": mark}, get(t, root)); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
}
