// Command hecate builds models from the generated code.
//
//	hecate build [flags]
//
// It streams a text through a model in lanes, follows the gradient chunk by
// chunk with the memory carried on, and writes a checkpoint, the losses, the
// loss curve and a sample under out/. SIGINT and SIGTERM end a build early and
// save it; --resume goes on from there to the last bit.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
)

//go:embed text/crossroads.txt
var crossroads []byte

func main() {
	if len(os.Args) < 2 || os.Args[1] != "build" {
		fmt.Fprintln(os.Stderr, "usage: hecate build [flags]    (hecate build -h lists them)")
		os.Exit(2)
	}
	opt, err := options(os.Args[2:])
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := build.Run(ctx, catalog(), opt, build.Fallback{Name: "crossroads.txt", Text: crossroads}, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hecate: build:", err)
		os.Exit(1)
	}
}

// options reads the flags.
func options(args []string) (build.Options, error) {
	f := flag.NewFlagSet("hecate build", flag.ContinueOnError)
	o := build.Options{Sizes: map[string]int{}}
	f.StringVar(&o.Model, "model", "ZeroB", "`name` of the model: "+strings.Join(catalog().Models(), ", "))
	f.StringVar(&o.Text, "text", "", "`file` to build on; by default Newton's Opticks from the Go toolchain")
	f.IntVar(&o.Steps, "steps", 2600, "`number` of updates")
	f.IntVar(&o.Lanes, "lanes", 8, "`number` of stretches of the text that are read side by side")
	f.IntVar(&o.Chunk, "chunk", 64, "`tokens` of each lane between two updates")
	f.StringVar(&o.Update, "update", "AdamW", "`name` of the update: "+strings.Join(catalog().Updates(), ", "))
	f.Float64Var(&o.Rate, "lr", 0, "learning `rate`; 0 is the update page's own")
	f.Float64Var(&o.Clip, "clip", 0, "`bound` of the norm of all gradients of a step; 0 is none")
	f.Func("with", "a setting of the update as `name=value`, such as beta_1=0.95 or else.lr=1e-3; may be given often", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		x, err := strconv.ParseFloat(value, 64)
		if !ok || err != nil {
			return errors.New("must be name=value with a number")
		}
		o.Set = append(o.Set, build.Setting{Name: name, Value: x})
		return nil
	})
	f.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first parameters and of the sample")
	f.StringVar(&o.Out, "out", "out", "`folder` for the checkpoint, the losses and the plots")
	f.StringVar(&o.Resume, "resume", "", "`checkpoint` to go on from, bit for bit")
	f.IntVar(&o.Sample, "sample", 400, "`bytes` of text to draw at the end")
	f.Func("set", "a size as `name=value`, such as memory.d_k=32; may be given often", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		n, err := strconv.Atoi(value)
		if !ok || err != nil {
			return errors.New("must be name=value with a whole number")
		}
		o.Sizes[name] = n
		return nil
	})
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "hecate build: unexpected argument %s\n", f.Arg(0))
		return o, errors.New("usage")
	}
	return o, nil
}
