// Package command is the program hecate: it builds, runs and inspects models of
// generated code. Formulas name the pages of the catalog that is passed to Main, so
// a module with pages of its own has the whole program in a main of three lines:
//
//	func main() { os.Exit(command.Main(registry.All())) }
//
// `hecate help` lists the commands.
package command

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/spf13/cobra"
)

//go:embed text/crossroads.txt
var crossroads []byte

// The exit statuses.
const (
	fine  = 0
	bad   = 1
	usage = 2
)

// Main runs the command line of the process and returns its exit status: 0 on success,
// also when a signal has ended a build, which is then saved; 1 when the run failed, its
// input is wrong, or two checkpoints differ; 2 when the command line or the
// configuration is wrong.
func Main(pages *catalog.Catalog) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program
	return run(ctx, pages, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// A status is an error that is only an exit status: its message has been printed.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// A misuse is an error of the command line.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// run runs a command line and returns the exit status.
func run(ctx context.Context, pages *catalog.Catalog, args []string, in io.Reader, out, errs io.Writer) int {
	root := &cobra.Command{
		Use:           "hecate",
		Short:         "Build, run and inspect models of generated code",
		Long:          "Build, run and inspect models of generated code.\n\nExit status: 0 success, 1 the run failed or its input is wrong, 2 the command line or the configuration is wrong.",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	name, started := "hecate", false
	root.PersistentPreRun = func(c *cobra.Command, _ []string) { name, started = "hecate: "+c.Name(), true }
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { name = "hecate: " + c.Name(); return misuse{err} })
	maker := &engine.Modules{Catalog: pages, OwnText: crossroads, OwnName: "crossroads.txt"}
	root.AddCommand(buildCommand(maker, args), testCommand(maker), streamCommand(maker), generateCommand(maker), inspectCommand(pages),
		benchCommand(maker), evalCommand(maker), devicesCommand(pages), verifyCommand(pages), imagesCommand(maker, pages), tokenizeCommand(), configCommand(maker), presetsCommand(), versionCommand(maker))
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errs)
	err := root.ExecuteContext(ctx)
	var problems config.Problems
	var wrong misuse
	var s status
	switch {
	case err == nil:
		return fine
	case errors.As(err, &s):
		return int(s)
	case errors.As(err, &problems):
		fmt.Fprintln(errs, problems)
		return usage
	case errors.As(err, &wrong) || !started:
		fmt.Fprintf(errs, "%s: %v\n", name, err)
		if text := err.Error(); strings.HasPrefix(text, "unknown command") && !strings.Contains(text, "Did you mean") {
			fmt.Fprintln(errs, "  help: `hecate help` lists the commands")
		}
		return usage
	}
	fmt.Fprintf(errs, "%s: %v\n", name, err)
	return bad
}

// exactly wants n arguments; what describes them.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return misuse{fmt.Errorf("%s: want %s, got %d arguments\nusage: %s", c.Name(), what, len(args), c.UseLine())}
		}
		return nil
	}
}

// ext is that of a checkpoint, for completion.
const ext = "safetensors"

// completeCheckpoints offers checkpoints to a shell that completes.
func completeCheckpoints(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{ext}, cobra.ShellCompDirectiveFilterFileExt
}
