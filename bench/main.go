// Command bench measures the emitted code beside C that does the same, the
// model beside its recurrence, and the compiler beside go build. It runs in
// the project's root:
//
//	go run ./bench [-rounds N] [-only delta,model,generation] [-append TITLE]
//
// It prints tables and writes them, with a chart, to out/bench. Nothing is
// asserted: a budget is a line of the table. bench/NOTES.md keeps what was
// predicted and what came.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	o := options{}
	flag.IntVar(&o.rounds, "rounds", 31, "rounds of the interleaved `run`")
	flag.IntVar(&o.genRounds, "generation-rounds", 3, "rounds of the compiler and go build")
	flag.StringVar(&o.only, "only", "delta,model,generation", "`parts` to measure; the model needs the recurrence")
	flag.Uint64Var(&o.seed, "seed", 1, "of the inputs and of the order")
	flag.StringVar(&o.title, "append", "", "append the tables to bench/NOTES.md under this `title`")
	flag.StringVar(&o.out, "out", filepath.Join("out", "bench"), "`folder` of tables and chart")
	flag.Parse()
	if flag.NArg() > 0 || o.rounds < 1 || o.genRounds < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds, genRounds int
	only, title, out  string
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

func (o options) run() error {
	if _, err := os.Stat(filepath.Join("bench", "c", "serve.c")); err != nil {
		return errors.New("run this in the root of the project: go run ./bench")
	}
	r := &report{machine: machine(), rounds: o.rounds}
	if o.has("delta") || o.has("model") {
		if err := o.core(r); err != nil {
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

// core measures the recurrence and the model in one run.
func (o options) core(r *report) (err error) {
	dir, err := os.MkdirTemp("", "hecate-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c, err := startCC[float32](".", dir)
	switch {
	case errors.Is(err, errNoCC):
		r.without = err.Error()
	case err != nil:
		return err
	default:
		r.compared = true
		defer func() { err = errors.Join(err, c.close()) }()
	}
	tasks, worst, err := deltaTasks(c, o.seed)
	if err != nil {
		return err
	}
	r.worst = worst
	if o.has("model") {
		more, err := modelTasks(o.seed)
		if err != nil {
			return err
		}
		tasks, r.model = append(tasks, more...), true
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r.core, err = measure(tasks, o.rounds, rand.New(rand.NewPCG(o.seed, 2)), told("recurrence and model", o.rounds))
	return err
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

// keep writes the tables, the chart and, when asked, the note.
func (o options) keep(r *report) error {
	if err := os.MkdirAll(o.out, 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.out, "tables.md"), []byte(r.String()), 0o666); err != nil {
		return err
	}
	if r.core != nil && r.compared {
		if err := r.draw(o.out); err != nil {
			return err
		}
	}
	if o.title == "" {
		return nil
	}
	f, err := os.OpenFile(filepath.Join("bench", "NOTES.md"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\n## Came: %s\n\n%s", o.title, r)
	return errors.Join(err, f.Close())
}
