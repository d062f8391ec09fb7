package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/gen"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// stages are the boxes of the pipeline that can be printed, in their order.
var stages = []struct {
	name, what string
	print      func(d *dumper) int
}{
	{"page", "what stands on the page: header, blocks, citations, outline", (*dumper).page},
	{"notation", "the blocks as they were parsed, in their one spelling", (*dumper).notation},
	{"check", "every unit resolved: the law written out, options set, equations in order", (*dumper).check},
	{"ir", "the tensor programs", (*dumper).ir},
	{"backward", "the programs with their adjoints added, nothing simplified", (*dumper).backward},
	{"simplified", "the forward and the backward program, simplified and divided", (*dumper).simplified},
	{"plan", "the loop nests, neutral between targets", (*dumper).lowered},
	{"fused", "the same in fused arithmetic, with the regions that vectors may compute", (*dumper).lowered},
	{"go", "the generated Go", (*dumper).lowered},
	{"asm", "the generated assembly, for AVX-512 and AVX2", (*dumper).lowered},
}

func dumpCommand() *command {
	var names, lines []string
	for _, s := range stages {
		names = append(names, s.name)
		lines = append(lines, fmt.Sprintf("  %-10s %s", s.name, s.what))
	}
	c := newCommand("dump", "-after=STAGE PAGE", "print a page after any stage of the compiler",
		"Print what one page has become after a stage:\n\n"+strings.Join(lines, "\n"), 1, 1)
	after := c.flags.String("after", "ir", "`STAGE` to print: "+strings.Join(names, ", "))
	only := c.flags.String("unit", "", "print only the unit of this `name`")
	open := workspaceFlags(c)
	c.run = func(args []string, out, err io.Writer) int {
		for _, s := range stages {
			if s.name != *after {
				continue
			}
			w, e := open(args)
			if e != nil {
				return finish("dump", bad, e, err)
			}
			p, ds := gen.Open(w.conf)
			if ds.HasErrors() {
				return report(ds, err)
			}
			d := &dumper{s: p.Source, path: args[0], only: *only, stage: s.name, out: out, err: err}
			return s.print(d)
		}
		return c.misuse(err, "there is no stage %q; the stages are %s", *after, strings.Join(names, ", "))
	}
	return c
}

// A dumper prints one page after one stage.
type dumper struct {
	s        *gen.Source
	path     string
	only     string
	stage    string
	out, err io.Writer
}

// chosen is the page and its tree.
func (d *dumper) chosen() (*spec.Page, *notation.File) {
	for i, p := range d.s.Pages {
		if sameFile(p.File.Path, d.path) {
			return p, d.s.Files[i]
		}
	}
	return nil, nil
}

func (d *dumper) page() int {
	p, _ := d.chosen()
	r := &inspect.Report{Pages: []*spec.Page{p}}
	if e := r.Text(d.out); e != nil {
		fmt.Fprintln(d.err, "hecategen:", e)
		return bad
	}
	return fine
}

func (d *dumper) notation() int {
	return d.units(func(u *notation.Unit) int {
		fmt.Fprintln(d.out, notation.Print(u, notation.Unicode))
		return fine
	})
}

func (d *dumper) check() int {
	return d.blocks(func(u *notation.Unit, b *check.Block) int {
		fmt.Fprintln(d.out, notation.Print(resolved(b), notation.Unicode))
		return fine
	})
}

func (d *dumper) ir() int {
	return d.programs(func(f *ir.Func) { fmt.Fprint(d.out, f) })
}

func (d *dumper) backward() int {
	return d.programs(func(f *ir.Func) { fmt.Fprint(d.out, joint(f)) })
}

func (d *dumper) simplified() int {
	return d.programs(func(f *ir.Func) {
		p := autodiff.NewPair(f)
		fmt.Fprintf(d.out, "%s\n%s", p.Fwd, p.Bwd)
	})
}

func (d *dumper) lowered() int {
	return d.units(func(u *notation.Unit) int {
		return finish("dump", fine, dumpLowered(d.s, u, d.stage, d.out), d.err)
	})
}

// units calls f for the units of the page, with a blank line between them.
func (d *dumper) units(f func(u *notation.Unit) int) int {
	_, file := d.chosen()
	if file == nil {
		return finish("dump", fine, fmt.Errorf("%s holds no page", d.path), d.err)
	}
	n, status := 0, fine
	for _, u := range file.Units {
		if d.only != "" && u.Name.Text != d.only {
			continue
		}
		if n++; n > 1 {
			fmt.Fprintln(d.out)
		}
		status = max(status, f(u))
	}
	if n == 0 && d.only != "" {
		return finish("dump", fine, fmt.Errorf("%s does not define %s", d.path, d.only), d.err)
	}
	return status
}

// blocks calls f for the units that stand by themselves.
func (d *dumper) blocks(f func(u *notation.Unit, b *check.Block) int) int {
	return d.units(func(u *notation.Unit) int {
		if !stands(u) {
			fmt.Fprintf(d.out, "// %s %s means something only where it is used\n", u.Kind, u.Name.Text)
			return fine
		}
		b, ds := instantiate(d.s, u)
		if b == nil || ds.HasErrors() {
			return report(ds, d.err)
		}
		return f(u, b)
	})
}

// programs prints the programs of every unit.
func (d *dumper) programs(print func(f *ir.Func)) int {
	return d.blocks(func(u *notation.Unit, b *check.Block) int {
		ps, ds := programs(b, u)
		if ds.HasErrors() {
			return report(ds, d.err)
		}
		for i, p := range ps {
			if i > 0 {
				fmt.Fprintln(d.out)
			}
			if p.label != "" {
				fmt.Fprintf(d.out, "; %s\n", p.label)
			}
			if p.fn != nil {
				print(p.fn)
			}
		}
		return fine
	})
}

// joint is a program with the adjoints of its parameters added, before any of
// it is simplified.
func joint(f *ir.Func) *ir.Func {
	g, _ := f.Clone()
	seeds := map[*ir.Value]*ir.Value{}
	for _, r := range g.Results {
		if r.Val.Elem == ir.Real && seeds[r.Val] == nil {
			seeds[r.Val] = g.AddParam(ir.AdjointName(r.Name), ir.Adjoint, ir.Real, r.Val.Axes...)
		}
	}
	var wrt []*ir.Value
	for _, p := range g.Params {
		if p.Elem == ir.Real && !p.NoGrad && (p.Role == ir.Input || p.Role == ir.Outer || p.Role == ir.State) {
			wrt = append(wrt, p)
		}
	}
	adj := autodiff.Reverse(&ir.Builder{F: g}, seeds, wrt)
	for _, p := range wrt {
		if a := adj[p]; a != nil {
			g.Results = append(g.Results, ir.Result{Name: ir.AdjointName(p.Name), Val: a})
		}
	}
	return g
}

func newFile(text string) *source.File { return source.NewFile("", text) }
