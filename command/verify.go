package command

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io"
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/cuda/verify"
	"github.com/spf13/cobra"
)

// verification is the options of `hecate verify`.
type verification struct {
	device, kernels, html string
	verify.Options
	asJSON bool
}

// verifyCommand is `hecate verify`.
func verifyCommand(pages *catalog.Catalog) *cobra.Command {
	var v verification
	c := &cobra.Command{Use: "verify [flags]", Short: "Compare the kernels of a GPU with the same kernels in Go",
		Long: `Compare the kernels of a GPU with the same kernels in Go, computed with numbers of 64
bits: each on random inputs in the domains that its page declares, at several sizes, with
results that hold NaNs before. A line names the kernel, the error of its worst result
by the size of that result, what it may be, the sizes of the model and the equations.
The exit status is 1 if a kernel differs or does not run.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			n, ok := config.GPU(v.device)
			if err := checkDevice(v.device); err != nil || !ok || v.device == "auto" {
				return misuse{fmt.Errorf("--device is %q, must be cuda or cuda:N", v.device)}
			}
			var err error
			if v.Kernels, err = regexp.Compile(v.kernels); err != nil {
				return misuse{fmt.Errorf("--kernels is %q: %w", v.kernels, err)}
			}
			return v.run(c, pages, n)
		}}
	f := c.Flags()
	f.StringVar(&v.device, "device", "cuda", "the GPU: `name`, cuda or cuda:N")
	f.StringVar(&v.kernels, "kernels", "", "only kernels whose name UNIT/KERNEL matches this `expression`")
	f.BoolVar(&v.BFloat16, "bf16", false, "only kernels with operands of products, and these in bfloat16")
	f.BoolVar(&v.Full, "full", false, "more sizes: five of the model, and up to 513 tokens")
	f.Uint64Var(&v.Seed, "seed", 1, "`seed` of the inputs")
	f.StringVar(&v.html, "html", "", "write the table to this `file`, too, as HTML")
	f.BoolVar(&v.asJSON, "json", false, "print one JSON object per line")
	return c
}

// verified is the whole table.
type verified struct {
	Info cuda.Info
	Rows []verify.Row
}

// count is the number of rows of a verdict.
func (x *verified) count(of verify.Verdict) (n int) {
	for _, r := range x.Rows {
		if r.Verdict == of {
			n++
		}
	}
	return n
}

// Summary is the table in a line.
func (x *verified) Summary() string {
	return fmt.Sprintf("%s on %s: %d ok, %d wrong, %d failed", progress.Things(len(x.Rows), "comparison"), x.Info, x.count(verify.Same), x.count(verify.Wrong), x.count(verify.Failed))
}

func (v *verification) run(c *cobra.Command, pages *catalog.Catalog, n int) error {
	var all verified
	out := c.OutOrStdout()
	opened := func(i cuda.Info, kernels int) {
		all.Info = i
		if !v.asJSON {
			fmt.Fprintf(out, "%s, each with its backward, on %s\n", progress.Things(kernels, "kernel"), i)
		}
	}
	l, err := engine.Library(pages)
	if err != nil {
		return err
	}
	err = verify.On(c.Context(), n, l, pages.Reference, v.Options, opened, func(r verify.Row) error {
		all.Rows = append(all.Rows, r)
		if v.asJSON {
			return printLine(out, r)
		}
		_, err := io.WriteString(out, rowText(r))
		return err
	})
	if v.html != "" && len(all.Rows) > 0 {
		var page bytes.Buffer
		err = errors.Join(err, table.Execute(&page, &all), checkpoint.WriteFile(v.html, page.Bytes()))
	}
	switch {
	case err != nil:
		return err
	case len(all.Rows) == 0:
		return misuse{fmt.Errorf("--kernels is %q: no kernel has such a name", v.kernels)}
	}
	if !v.asJSON {
		fmt.Fprintln(out, all.Summary())
	}
	if all.count(verify.Same) < len(all.Rows) {
		return status(bad)
	}
	return nil
}

// rowText is a row as a line.
func rowText(r verify.Row) string {
	if r.Verdict == verify.Failed {
		return fmt.Sprintf("%-6s %s (%s): %s\n", r.Verdict, r.Kernel, r.Sizes, r.Detail)
	}
	line := fmt.Sprintf("%-6s %-40s error %.1e, bound %.0e  %s  %s; %s", r.Verdict, r.Kernel, r.Error, r.Bound, r.Target, r.Sizes, strings.Join(r.Equations, ", "))
	if r.Detail != "" {
		line += ": " + r.Detail
	}
	return line + "\n"
}

// table is the page of a verification.
var table = template.Must(template.New("").Parse(`<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>Kernels on {{.Info}}</title>
<style>
body { font: 14px/1.4 system-ui, sans-serif; margin: 2em }
table { border-collapse: collapse } td, th { padding: .2em .8em; text-align: left; border-bottom: 1px solid #ddd; vertical-align: top }
td.n { text-align: right; font-variant-numeric: tabular-nums } tr.wrong td, tr.failed td { background: #fdd }
</style>
<h1>Kernels of a GPU and the same in Go</h1>
<p>{{.Summary}}. The error is the norm of the difference from the result in float64, divided by the norm of that result.</p>
<table><tr><th>kernel<th>equations<th>sizes<th>target<th>image<th>calls<th>error<th>bound<th>of<th>verdict</tr>
{{range .Rows}}<tr class="{{.Verdict}}"><td>{{.Kernel}}<td>{{range .Equations}}{{.}} {{end}}<td>{{.Sizes}}<td>{{.Target}}<td>{{.Image}}<td class="n">{{.Calls}}<td class="n">{{printf "%.1e" .Error}}<td class="n">{{printf "%.0e" .Bound}}<td>{{.Worst}}<td>{{.Verdict}} {{.Detail}}</tr>
{{end}}</table></html>
`))
