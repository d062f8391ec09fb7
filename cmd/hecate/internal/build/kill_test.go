package build

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/runtime/block"
)

// A build is killed as a process is killed, at random moments, its writing of
// checkpoints among them, and goes on by itself until it comes to its end. What
// it leaves, losses, parameters and all else in the checkpoint, and the sample, is
// to the bit what a build leaves that nobody killed.
//
// HECATE_KILLS says how often each build is killed, a few times by default.

const (
	killsEnv = "HECATE_KILLS"
	childEnv = "HECATE_BUILD_CHILD" // folder of the child's run
	ruleEnv  = "HECATE_BUILD_RULE"
)

// victim are the options of a build that saves all the time, on a text that it
// reads twice.
func victim(t testing.TB, rule, dir string) Options {
	t.Helper()
	text := filepath.Join(dir, "prose.txt")
	if _, err := os.Stat(text); err != nil {
		if err := os.WriteFile(text, []byte(prose[:420]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Options{Model: rule, Text: text, Steps: 12, Lanes: 2, Chunk: chunk, Update: "AdamW", Rate: 1e-3, Seed: 7, Clip: 1,
		Out: filepath.Join(dir, "out"), Resume: Auto, Sample: 9, Every: 1, Keep: 2}
}

// build is a whole build but for its pictures, which are a function of its losses
// and take longer than all else.
func build(o Options) error {
	c := rules()
	r, err := prepare(c, o, Fallback{}, io.Discard)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if len(r.before) == 0 {
		bits, err := r.measure(ctx)
		if err != nil {
			return err
		}
		r.before = []float64{bits}
	}
	if _, err := r.steps(ctx); err != nil {
		return err
	}
	if err := r.files(); err != nil {
		return err
	}
	return r.sample(ctx)
}

// results are the files that a build leaves at its end.
func results(t testing.TB, o Options) (all map[string][]byte) {
	t.Helper()
	all = map[string][]byte{}
	stem := filepath.Join(o.Out, strings.ToLower(o.Model))
	for _, end := range []string{".safetensors", ".jsonl", ".txt"} {
		data, err := os.ReadFile(stem + end)
		if err != nil {
			t.Fatal(err)
		}
		all[end] = data
	}
	return all
}

func kills(t testing.TB, byDefault int) int {
	t.Helper()
	v := os.Getenv(killsEnv)
	if v == "" {
		return byDefault
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is %q, want a number", killsEnv, v)
	}
	return n
}

// TestKilled kills builds of every rule.
func TestKilled(t *testing.T) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := build(victim(t, os.Getenv(ruleEnv), dir)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	for i, rule := range registry.Rules() {
		if _, err := gated(rule, block.Sizes{}); err != nil {
			t.Fatal(err)
		}
		t.Run(rule, func(t *testing.T) { killed(t, rule, uint64(i), kills(t, 2)) })
	}
}

// killed compares a build that is killed n times with one that is not. A build
// that comes to its end before it was killed often enough begins again.
func killed(t *testing.T, rule string, seed uint64, n int) {
	whole := victim(t, rule, t.TempDir())
	start := time.Now()
	child(t, rule, filepath.Dir(whole.Out)).end(t)
	span := time.Since(start)
	want := results(t, whole)

	random := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano())))
	dir := t.TempDir()
	o := victim(t, rule, dir)
	for hit, round := 0, 0; ; round++ {
		c := child(t, rule, dir)
		if hit < n && round < 10*n && c.kill(time.Duration(random.Float64()*float64(span))) {
			hit++
			continue
		}
		c.end(t)
		for end, data := range results(t, o) {
			if !bytes.Equal(data, want[end]) {
				t.Fatalf("%s: %s after %d kills differs from that of the unbroken build", rule, end, hit)
			}
		}
		litter(t, o.Out)
		if hit == n || round >= 10*n {
			t.Logf("%s: killed %d times in %d starts", rule, hit, round+1)
			return
		}
		if err := os.RemoveAll(o.Out); err != nil {
			t.Fatal(err)
		}
	}
}

// litter wants no file of a dead writer beside what a build leaves.
func litter(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil || len(names) > 0 {
		t.Errorf("killed builds left %v: %v", names, err)
	}
}

// A process is a build in another process.
type process struct {
	cmd  *exec.Cmd
	done chan error
	says bytes.Buffer
}

// child starts this test binary as a build of a rule in a folder.
func child(t *testing.T, rule, dir string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], "-test.run=^TestKilled$"), done: make(chan error, 1)}
	p.cmd.Env = append(os.Environ(), childEnv+"="+dir, ruleEnv+"="+rule)
	p.cmd.Stderr, p.cmd.Stdout = &p.says, &p.says
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p
}

// kill kills the process after a while; false if it ended before.
func (p *process) kill(after time.Duration) bool {
	select {
	case err := <-p.done:
		p.done <- err
		return false
	case <-time.After(after):
	}
	_ = p.cmd.Process.Kill()
	err := <-p.done
	p.done <- err
	return err != nil && p.cmd.ProcessState.ExitCode() == -1
}

// end waits for a process that nobody kills any more.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := <-p.done; err != nil {
		t.Fatalf("the build: %v\n%s", err, p.says.String())
	}
}
