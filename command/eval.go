package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/evaluate"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/spf13/cobra"
)

// compared are the rules that hecate eval compares where nobody names others and the catalog has them.
var compared = []string{"DeltaRule", "TitansLMM", "Hebbian", "MONETA", "YAAD", "MEMORA", "Lattice", "Trellis", "AtlasOmega", "GatedDeltaHeads"}

// taskNames are the tasks of hecate eval.
var taskNames = []string{"mqar", "position", "needle", "copy", "length"}

// evalCommand is `hecate eval`.
func evalCommand(modules *engine.Modules) *cobra.Command {
	o := evaluate.Options{Catalog: modules.Catalog}
	var rules, tasks, text, out, on string
	c := &cobra.Command{
		Use: "eval [flags]", Short: "Show what each memory rule is good for: recall by pairs, distance and age, and long contexts",
		Long: `Show what each memory rule is good for. A small model is built for each rule on each
task, and one with attention alone, all of the same form and size: an attention with
a window of 16 tokens, the memory, and a network. The tasks: mqar, pairs of a key and a
value by their number; position, pairs by their age; needle, digits in filler by distance;
copy, symbols in their order; length, a text built on in contexts of 512 and read in contexts of
16,384. The tables and a plot of each are written into a folder. Ten rules take about an
hour on two cores, AtlasOmega half of it; --rules, --tasks and --steps make it less.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			known := modules.Catalog.Rules()
			o.Rules = slices.DeleteFunc(slices.Clone(compared), func(r string) bool { return !slices.Contains(known, r) })
			if rules != "" {
				o.Rules = strings.Split(rules, ",")
			}
			if tasks != "" {
				o.Tasks = strings.Split(tasks, ",")
			}
			for _, x := range []struct {
				what         string
				names, known []string
			}{{"rule", o.Rules, known}, {"task", o.Tasks, taskNames}} {
				for _, n := range x.names {
					if !slices.Contains(x.known, n) {
						return misuse{fmt.Errorf("there is no %s %q; %s", x.what, n, config.DidYouMean(n, x.known))}
					}
				}
			}
			if o.Steps < 1 {
				return misuse{fmt.Errorf("--steps is %d, must be at least 1", o.Steps)}
			}
			_, t, err := modules.OpenText(text)
			if err != nil {
				return err
			}
			o.Text = t
			if err := checkDevice(on); err != nil {
				return err
			}
			said := false
			o.Open = func() (device.Memory, func() error, error) {
				memory, why, done, err := modules.Open(on)
				if err != nil {
					return nil, nil, fmt.Errorf("--device is %q: %w", on, err)
				}
				if !said {
					sayFallback(c, why)
				}
				said = true
				return memory, done, nil
			}
			return eval(c.Context(), c.OutOrStdout(), c.ErrOrStderr(), o, out)
		},
	}
	deviceFlag(c, &on)
	c.Flags().StringVar(&rules, "rules", "", "`names` of memory rules with commas between them; by default ten of the library")
	c.Flags().StringVar(&tasks, "tasks", "", "`names` with commas between them: "+strings.Join(taskNames, ", ")+" (by default all)")
	c.Flags().IntVar(&o.Steps, "steps", 2000, "`number` of updates of each model")
	c.Flags().Uint64Var(&o.Seed, "seed", 1, "random `seed` of parameters and episodes")
	c.Flags().StringVar(&text, "text", "", "text `file` of the task length, by default that of hecate build")
	c.Flags().StringVar(&out, "out", filepath.Join("out", "eval"), "`folder` for the tables and plots")
	return c
}

// eval runs the tasks, and writes a page and the plots: after each task, so that a run that ends early leaves the tasks before.
func eval(ctx context.Context, w, progress io.Writer, o evaluate.Options, out string) error {
	path, written := filepath.Join(out, "eval.md"), false
	page := fmt.Sprintf("# What each memory is good for\n\n%d updates of 1,024 tokens for each model, seed %d. The model of a rule is `%s`.\n",
		o.Steps, o.Seed, evaluate.Formula("RULE"))
	o.Report = func(task, model string, values []float64) {
		fmt.Fprintf(progress, "%s: %s %.3f\n", task, model, values)
	}
	o.Done = func(t evaluate.Table) error {
		svg, png, err := t.Plot()
		if err != nil {
			return err
		}
		page += fmt.Sprintf("\n%s\n![%s](%s.svg)\n", t.Markdown(), t.Name, t.Name)
		plot := filepath.Join(out, t.Name)
		written = true
		return errors.Join(os.MkdirAll(out, 0o755), checkpoint.WriteFile(plot+".svg", svg), checkpoint.WriteFile(plot+".png", png),
			checkpoint.WriteFile(path, []byte(page)))
	}
	if err := evaluate.Run(ctx, o); err != nil {
		if written {
			return fmt.Errorf("%w; %s has the tasks before it", err, path)
		}
		return err
	}
	_, err := fmt.Fprintf(w, "%s\nwrote %s\n", page, path)
	return err
}
