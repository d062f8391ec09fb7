// Command bench compares the emitted code at every level with C that does the
// same, with OpenBLAS and with the peak of the core; the model with its
// recurrence; and the compiler with go build. It runs in the project's root:
//
//	go run ./validation/bench [-rounds N] [-only core,threads,model,generation,rules,build,step,million] [-append TITLE]
//
// The recurrences that it measures are emitted from validation/bench/page into out/bench and built with
// the command. It takes some minutes and 2.5 GB: one of the variants in C reads the states of
// all tokens, as such code does.
//
// It prints tables and writes them, with a chart, to out/bench. Nothing is
// asserted: a target is a line of a table. validation/bench/NOTES.md keeps what was
// predicted and what came.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/validation/bench/emit"
)

func main() {
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 21, "rounds of the interleaved `run`")
	flag.IntVar(&o.genRounds, "generation-rounds", 3, "rounds of the compiler and go build")
	flag.StringVar(&o.only, "only", "core,threads,model,generation", "`parts` to measure; threads and model come with the core, rules is all memory rules beside C and JAX, build the whole model and JAX, step a whole step of training beside PyTorch and JAX, million a stream of so many tokens")
	flag.StringVar(&o.python, "python", "python3", "the `interpreter` that has JAX, for the rules and the build, and torch, for steps")
	flag.StringVar(&o.of, "rules", "", "measure only these `rules`, by the names in the table")
	flag.IntVar(&o.tokens, "tokens", tokens, "`tokens` of a trial of a rule")
	flag.Uint64Var(&o.seed, "seed", 1, "of the inputs and of the order")
	flag.StringVar(&o.title, "append", "", "append the tables to validation/bench/NOTES.md under this `title`")
	flag.StringVar(&o.out, "out", filepath.Join("out", "bench"), "`folder` of tables and chart")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.genRounds < 1 || o.tokens < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if len(emitted) == 0 && o.only != "step" {
		os.Exit(o.again())
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds, genRounds int
	tokens            int
	only, title, out  string
	python, of        string
	seed              uint64
}

func (o options) has(part string) bool {
	for p := range strings.SplitSeq(o.only, ",") {
		if strings.TrimSpace(p) == part {
			return true
		}
	}
	return false
}

// pairs reports whether two threads are measured.
func (o options) pairs() bool { return o.has("threads") && enough() }

// again runs the command with the recurrences and returns its exit status.
func (o options) again() int {
	err := errors.New("run this in the root of the project: go run ./validation/bench")
	if _, stat := os.Stat(filepath.Join("validation", "bench", "c", "serve.c")); stat == nil {
		err = again(".", func(overlay string) *exec.Cmd {
			return exec.Command("go", append([]string{"run", "-overlay", overlay, "./validation/bench"}, os.Args[1:]...)...)
		})
	}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

func (o options) run() error {
	r := &report{machine: machine(), rounds: o.rounds}
	if o.has("core") {
		if err := o.core(r); err != nil {
			return err
		}
	}
	if o.has("rules") {
		if err := o.family(r); err != nil {
			return err
		}
	}
	if o.has("build") {
		if err := o.races(r); err != nil {
			return err
		}
	}
	if o.has("step") {
		if err := o.steps(r); err != nil {
			return err
		}
	}
	if o.has("million") {
		var err error
		if r.million, err = millions(o.seed); err != nil {
			return err
		}
	}
	if o.has("generation") {
		var err error
		if r.gen, err = measureGeneration(".", o.genRounds, told("generation", o.genRounds)); err != nil {
			return err
		}
	}
	fmt.Print(r)
	return o.keep(r)
}

// core measures the recurrences, the products and the model in one run, and two
// threads in another.
func (o options) core(r *report) (err error) {
	dir, err := os.MkdirTemp("", "hecate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	_, r.lacks = levels(productLevels)
	c, err := startCC[float32](".", dir)
	switch {
	case errors.Is(err, errNoCC):
		r.lacks = append(r.lacks, err.Error())
	case err != nil:
		return err
	default:
		r.lacks, r.blas = append(r.lacks, c.lacks...), c.blas
		defer func() { err = errors.Join(err, c.close()) }()
	}
	setThreads(1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	one, two, err := o.tasks(r, c)
	if err != nil {
		return err
	}
	runtime.GC()
	random := rand.New(rand.NewPCG(o.seed, 2))
	if r.core, err = measure(one, o.rounds, random, told("one thread", o.rounds)); err != nil {
		return err
	}
	if len(two) > 0 {
		r.threads, err = measure(two, o.rounds, random, told("two threads", o.rounds))
	}
	return err
}

// family measures all rules in one run.
func (o options) family(r *report) (err error) {
	dir, err := os.MkdirTemp("", "hecate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var rivals []rival
	c, err := startCC[float32](".", dir)
	switch {
	case errors.Is(err, errNoCC):
		r.lacks = append(r.lacks, err.Error())
	case err != nil:
		return err
	default:
		rivals = append(rivals, rival{variantC, c.peer})
		defer func() { err = errors.Join(err, c.close()) }()
	}
	jax, err := startJAX(".", o.python)
	switch {
	case errors.Is(err, errNoJAX):
		r.lacks = append(r.lacks, err.Error())
	case err != nil:
		return err
	default:
		rivals = append(rivals, rival{variantJAX, jax})
		defer func() { err = errors.Join(err, jax.close()) }()
	}
	setThreads(1)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r.tokens, r.far = o.tokens, map[string]difference{}
	tasks, err := trials(strings.FieldsFunc(o.of, func(c rune) bool { return c == ',' }), o.tokens, rivals, o.seed, r.far)
	if err != nil {
		return err
	}
	if c != nil {
		var peaks []task
		if peaks, r.peakFlops, err = peakTasks(c); err != nil {
			return err
		}
		tasks = append(tasks, peaks...)
	}
	if r.kernels, err = emit.Kernels("."); err != nil {
		return err
	}
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r.rules, err = measure(tasks, o.rounds, rand.New(rand.NewPCG(o.seed, 3)), told("rules", o.rounds))
	return err
}

// tasks prepares everything, sees that all agree, and returns what is measured on
// one thread and on two.
func (o options) tasks(r *report, c *cc[float32]) (one, two []task, err error) {
	if c != nil {
		if one, r.peakFlops, err = peakTasks(c); err != nil {
			return nil, nil, err
		}
	}
	all, err := recurrences(c, o.seed, &r.checks)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range all {
		one = append(one, x.tasks()...)
		if x.rule == deltaRule && o.pairs() {
			two = append(two, x.threadTasks()...)
		}
	}
	parts, err := projections(c, o.seed, &r.checks)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range parts {
		one = append(one, x.tasks()...)
		if o.pairs() {
			two = append(two, x.threadTasks()...)
		}
	}
	chunks, err := chunkTrials(c, o.seed, &r.checks)
	if err != nil {
		return nil, nil, err
	}
	for _, x := range chunks {
		one = append(one, x.tasks()...)
	}
	if !o.has("model") {
		return one, two, nil
	}
	more, matrices, err := modelTasks(o.seed)
	r.model, r.matrices = true, matrices
	return append(one, more...), two, err
}

// told prints how far a measurement is.
func told(what string, rounds int) func(int) {
	from := time.Now()
	return func(round int) {
		fmt.Fprintf(os.Stderr, "\r%s: round %d of %d, %.0f s", what, round, rounds, time.Since(from).Seconds())
		if round == rounds {
			fmt.Fprintln(os.Stderr)
		}
	}
}

// keep writes the tables, the chart and, with -append, the note.
func (o options) keep(r *report) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "tables.md"), []byte(r.String()), 0o666); err != nil {
		return err
	}
	if r.core != nil && r.peak(r.core, false).median > 0 {
		if err := r.draw(o.out); err != nil {
			return err
		}
	}
	if o.title == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join("validation", "bench", "NOTES.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n## Came: %s\n\n%s", o.title, r)
	return errors.Join(err, f.Close())
}
