package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/generated/registry"
)

// The command builds, is killed as a process is killed, at random moments, every
// second time while it writes a checkpoint, and goes on by itself until it comes to
// its end. What it leaves, losses, parameters and all else in the checkpoint, and
// the sample, is to the bit what a build leaves that nobody killed.
//
// HECATE_KILLS says how often each build is killed, a few times by default.
const killsEnv = "HECATE_KILLS"

// victimToml is a build that saves all the time, on a text that it reads twice.
const victimToml = `
[model]
formula = %q
sizes = { d = 4, attention = { H = 2, n_p = 1, w = 5 } }
seed = 7
[levels]
periods = %s
[stream]
path = %q
lanes = 2
chunk = 37
[update]
clip = 1
[build]
name = "run"
steps = 12
out = %q
resume = "auto"
sample = 9
checkpoint_every = 1
evaluate_every = 5
keep = 2
keep_best = true
[report]
plots = false
`

// slow are models on schedules of four levels.
var slow = []string{
	"ByteLM(MAG(CMS([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))",
	"ByteLM(MAG(CMSGated([DeltaRule, TitansLMM, Hebbian, Lattice]), SlidingWindow))",
	"ByteLM(HOPE(SelfReferential, [ResidualMLP, ResidualMLP, ResidualMLP, ResidualMLP]))",
}

// TestKilled kills builds of every rule, and of schedules of four levels.
func TestKilled(t *testing.T) {
	for i, rule := range registry.Rules() {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			killed(t, "ByteLM(MAG("+rule+", SlidingWindow))", "[1]", uint64(i), kills(t, 1))
		})
	}
	for i, formula := range slow {
		t.Run(formula, func(t *testing.T) {
			t.Parallel()
			killed(t, formula, "[1, 2, 4, 8]", uint64(100+i), kills(t, 4))
		})
	}
}

func kills(t *testing.T, byDefault int) int {
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

// victim writes a configuration into a folder of its own and returns its path.
func victim(t *testing.T, formula, periods string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Repeat("Anybody can light a lamp, he said. The trick is to know what the last traveller needed, and to forget it in time for the next one. ", 4)
	paths := []string{filepath.Join(dir, "prose.txt"), filepath.Join(dir, "run.toml")}
	toml := fmt.Sprintf(victimToml, formula, periods, paths[0], filepath.Join(dir, "out"))
	if !strings.Contains(formula, "SlidingWindow") {
		toml = strings.Replace(toml, ", attention = { H = 2, n_p = 1, w = 5 }", "", 1)
	}
	for i, data := range []string{text[:420], toml} {
		if err := os.WriteFile(paths[i], []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return paths[1]
}

// killed compares a build that is killed n times with one that is not. A build
// that comes to its end before it was killed often enough begins again.
func killed(t *testing.T, formula, periods string, seed uint64, n int) {
	whole := victim(t, formula, periods)
	start := time.Now()
	begin(t, whole).end(t)
	span := time.Since(start)
	want := results(t, whole)

	random := rand.New(rand.NewPCG(seed, uint64(time.Now().UnixNano())))
	config := victim(t, formula, periods)
	out := filepath.Join(filepath.Dir(config), "out")
	for hit, writing, round := 0, 0, 0; ; round++ {
		p := begin(t, config)
		after := time.Duration(random.Float64() * float64(span))
		if hit < n && round < 20*n {
			struck, wrote := p.kill(after, out, hit%2 == 1)
			if struck {
				hit++
			}
			if wrote {
				writing++
			}
			if struck {
				continue
			}
			span /= 2 // the unbroken build had a slower machine, or more to do
		}
		p.end(t)
		got := results(t, config)
		for name, data := range want {
			if !bytes.Equal(got[name], data) {
				t.Fatalf("%s after %d kills is not that of the unbroken build\n%s", name, hit, p.says.String())
			}
		}
		litter(t, out)
		if hit >= n || round >= 20*n {
			t.Logf("killed %d times in %d starts, %d times while a file was written", hit, round+1, writing)
			return
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
}

// results are what a build leaves at its end: the checkpoint with all losses, the
// sample, and what the log says of each step but how fast it went.
func results(t *testing.T, config string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, name := range []string{"run.safetensors", "run-best.safetensors", "run.txt", "run.jsonl"} {
		data, err := os.ReadFile(filepath.Join(filepath.Dir(config), "out", name))
		if err != nil {
			t.Fatal(err)
		}
		all[name] = data
	}
	var steps []byte
	for line := range bytes.Lines(all["run.jsonl"]) {
		var x map[string]any
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, ok := x["loss"]; !ok {
			continue // of what is measured before a kill and not again, or twice
		}
		delete(x, "tokens_per_s")
		delete(x, "worst_tokens_per_s")
		levels, _ := x["levels"].([]any)
		for _, l := range levels {
			delete(l.(map[string]any), "open_share") // of the attempt
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(append(steps, b...), '\n')
	}
	all["run.jsonl"] = steps
	return all
}

// litter wants no file of a dead writer beside what a build leaves.
func litter(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, ".*.tmp"))
	if err != nil || len(names) > 0 {
		t.Errorf("killed builds left %v: %v", names, err)
	}
}

// A process is the command in another process.
type process struct {
	cmd  *exec.Cmd
	done chan error
	says bytes.Buffer
}

// begin starts a build.
func begin(t *testing.T, config string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("hecate", "build", "-c", config), done: make(chan error, 1)}
	p.cmd.Stderr, p.cmd.Stdout = &p.says, &p.says
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	return p
}

// kill kills the process after a while, or, after that, in the moment in which it
// has begun to write a file; struck is false if it ended before.
func (p *process) kill(after time.Duration, out string, mid bool) (struck, writing bool) {
	ended := func(d time.Duration) bool {
		select {
		case err := <-p.done:
			p.done <- err
			return true
		case <-time.After(d):
			return false
		}
	}
	if ended(after) {
		return false, false
	}
	for mid && !writing {
		names, _ := filepath.Glob(filepath.Join(out, ".*.safetensors.*.tmp")) // the pattern is right
		writing = len(names) > 0
		if !writing && ended(50*time.Microsecond) {
			return false, false
		}
	}
	_ = p.cmd.Process.Kill()
	err := <-p.done
	p.done <- err
	return err != nil && p.cmd.ProcessState.ExitCode() == -1, writing
}

// end waits for a process that nobody kills any more.
func (p *process) end(t *testing.T) {
	t.Helper()
	if err := <-p.done; err != nil {
		t.Fatalf("the build: %v\n%s", err, p.says.String())
	}
}
