package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/internal/fakecuda"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hecate": hecate, "hecate-on-a-full-disk": full})
}

// hecate is the command with the library's pages.
func hecate() { os.Exit(Main(registry.All())) }

// TestScripts runs the command as a user does. UPDATE=1 rewrites what the
// scripts compare with.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE") != "",
		Setup: func(e *testscript.Env) error {
			text, err := filepath.Abs("text/crossroads.txt")
			driver, compiler, _ := fakecuda.Build()
			kit, err2 := filepath.Abs("../validation/gpukit")
			err = errors.Join(err, err2)
			e.Vars = append(e.Vars, "TEXT="+text, "KIT="+kit, "FAKE_DRIVER="+driver, "FAKE_COMPILER="+compiler)
			return errors.Join(err, os.WriteFile(filepath.Join(e.WorkDir, "small.toml"), []byte(smallToml), 0o600),
				os.WriteFile(filepath.Join(e.WorkDir, "bad.txt"), []byte("twenty bytes and more, of which one \xff is no UTF-8"), 0o600))
		},
		Condition: func(name string) (bool, error) {
			if name != "fakecuda" {
				return false, errors.New("no condition " + name)
			}
			return fakecuda.Wanted()
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":    status1,
			"appear":    appear,
			"flip":      flip,
			"longer":    longer,
			"shorter":   shorter,
			"lines":     lines,
			"terminate": terminate,
		},
	})
}

// smallToml is a build that takes no time; its text is the script's to give.
const smallToml = `
[model]
formula = "ZeroB"
sizes = { d = 6, attention = { H = 2, w = 5, n_p = 1 }, memory = { d_k = 4 } }
seed = 5
[stream]
lanes = 3
chunk = 7
[update]
schedule = "constant"
[build]
steps = 6
sample = 20
`

// status1 is `status N COMMAND…`: it runs a command and wants the exit status N.
func status1(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

// appear is `appear PATTERN`: it waits until there is a file that fits.
func appear(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: appear PATTERN")
	}
	const patience = 60 * time.Second // for a machine with other things to do
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		found, err := filepath.Glob(ts.MkAbs(args[0]))
		ts.Check(err)
		if len(found) > 0 {
			return
		}
		if time.Since(start) > patience {
			ts.Fatalf("%s did not appear", args[0])
		}
	}
}

// terminate sends SIGTERM to all commands in the background.
func terminate(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: terminate")
	}
	for _, c := range ts.BackgroundCmds() {
		if err := c.Process.Signal(syscall.SIGTERM); !errors.Is(err, os.ErrProcessDone) {
			ts.Check(err)
		}
	}
}

// flip is `flip FILE`: it changes a bit of the last byte.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: flip FILE")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	data[len(data)-1] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// longer is `longer FILE`: it adds a byte to a file.
func longer(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: longer FILE")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(data, 0), 0o600))
}

// shorter is `shorter FILE`: it takes the last byte off a file.
func shorter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shorter FILE")
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data[:len(data)-1], 0o600))
}

// lines is `lines N FILE`: it wants so many lines.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[1]), "\n"); got != want {
		ts.Fatalf("%s has %d lines, want %d", args[1], got, want)
	}
}
