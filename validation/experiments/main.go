// Experiments builds whole models and reports how they did: questions that no test
// can decide.
//
//	go run ./validation/experiments baseline are models with memory better than a transformer of PyTorch?
//	go run ./validation/experiments timed    the same, in ten minutes on five megabytes
//	go run ./validation/experiments compare  nine rules, four levels each, on one text
//	go run ./validation/experiments levels   does a second, slower level help?
//	go run ./validation/experiments sweep    do combinations of a rule and a composition degenerate?
//	go run ./validation/experiments finite   do the nine rules stay finite in each of four compositions?
//
// Each of them has its question, its streams, its sizes and what will count as an
// answer in the head of its file, written before the first run. The answer is a page
// of markdown in the folder reports. A report has no time of day and, but for the tokens per
// second of baseline and the tokens of timed, no timing in it, so two runs differ where the machine's arithmetic does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
)

// An asked is what a command line asks for.
type asked struct {
	steps int    // of the longest horizon; 0: the question's own
	out   string // folder of the reports
	only  string // part of the formulas that are built, or of the names of what is read; "": all

	done string // of levels: file with builds that are not built again; "": none

	// Of baseline alone.
	python  string // with PyTorch
	jobs    int    // models at a time
	seeds   int
	rate    float64 // the only one; 0: those of the size
	quick   bool
	minutes float64 // of timed
	small   bool    // the smaller size alone
	all     bool    // rates with all seeds
}

// questions are the subcommands; each writes its report to the file of its name.
var questions = map[string]func(ctx context.Context, a asked) (report, error){
	"baseline": baseline,
	"timed":    timed,
	"compare":  compare,
	"levels":   levels,
	"sweep":    sweep,
	"finite":   finite,
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "experiments:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	var a asked
	flags := flag.NewFlagSet("experiments baseline|timed|compare|levels|sweep|finite", flag.ContinueOnError)
	flags.IntVar(&a.steps, "steps", 0, "end after so many `updates`, instead of as many as the question says")
	flags.StringVar(&a.out, "out", "validation/experiments/reports", "`folder` of the report")
	flags.StringVar(&a.only, "only", "", "sweep, finite: build those models alone whose formula contains this `text`; compare: those rows, levels: those streams alone whose name does")
	flags.StringVar(&a.done, "done", "", "levels: builds that this `file` lists, as an interrupted run printed them, are not built again")
	flags.StringVar(&a.python, "python", "out/torch/bin/python", "baseline, timed: the `interpreter` that has PyTorch")
	flags.IntVar(&a.jobs, "jobs", runtime.NumCPU(), "baseline: `models` at a time, of one thread each")
	flags.IntVar(&a.seeds, "seeds", 0, "baseline, levels: `number` of seeds, by default 3 and 5")
	flags.Float64Var(&a.rate, "rate", 0, "baseline: the only `rate`, instead of those of each size")
	flags.Float64Var(&a.minutes, "minutes", 10, "timed: `minutes` of each model")
	flags.BoolVar(&a.small, "small", false, "baseline: the smaller size alone")
	flags.BoolVar(&a.quick, "quick", false, "baseline: the smaller size, an eighth of the updates, one rate and seed")
	flags.BoolVar(&a.all, "all", false, "baseline: every rate with every seed")
	if len(args) == 0 {
		return fmt.Errorf("say which: baseline, timed, compare, levels, sweep or finite")
	}
	ask, ok := questions[args[0]]
	if !ok {
		return fmt.Errorf("there is no experiment %q: baseline, timed, compare, levels, sweep or finite", args[0])
	}
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	r, err := ask(ctx, a)
	if err != nil {
		return err
	}
	path := filepath.Join(a.out, args[0]+".md")
	if err := r.write(path); err != nil {
		return err
	}
	fmt.Println("wrote", path)
	return nil
}
