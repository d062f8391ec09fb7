// Experiments builds whole models and reports how they did: questions that no test
// can decide.
//
//	go run ./validation/experiments compare  nine rules, four levels each, on one text
//	go run ./validation/experiments levels   does a second, slower level help?
//	go run ./validation/experiments sweep    do combinations of a rule and a composition degenerate?
//
// Each of them has its question, its streams, its sizes and what will count as an
// answer in the head of its file, written before the first run. The answer is a page
// of markdown in the folder reports. A report has no time of day and no timing in it,
// so two runs differ where the machine's arithmetic does.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

// An asked is what a command line asks for.
type asked struct {
	steps int    // of the longest horizon; 0: the question's own
	out   string // folder of the reports
}

// questions are the subcommands; each writes its report to the file of its name.
var questions = map[string]func(ctx context.Context, a asked) (report, error){
	"compare": compare,
	"levels":  levels,
	"sweep":   sweep,
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
	flags := flag.NewFlagSet("experiments compare|levels|sweep", flag.ContinueOnError)
	flags.IntVar(&a.steps, "steps", 0, "end after so many `updates`, instead of as many as the question says")
	flags.StringVar(&a.out, "out", "validation/experiments/reports", "`folder` of the report")
	if len(args) == 0 {
		return fmt.Errorf("say which: compare, levels or sweep")
	}
	ask, ok := questions[args[0]]
	if !ok {
		return fmt.Errorf("there is no experiment %q: compare, levels or sweep", args[0])
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
