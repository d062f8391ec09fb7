package gen

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitgo"
	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/spec"
)

// Dump takes a unit through the passes up to one of them and prints the output of that
// pass. A comment tells which units do not go through it.
func (s *Source) Dump(w io.Writer, u *notation.Unit, pass Pass) (ds diag.List) {
	kernels := slices.IndexFunc(Pipeline, func(p Pass) bool { return p.Output == "plan.Kernel" })
	at := slices.IndexFunc(Pipeline, func(p Pass) bool { return p.Name == pass.Name })
	switch {
	case pass.Unit == nil && pass.Result == "":
	case at >= kernels && !s.compiled(u):
		fmt.Fprintf(w, "// %s %s is not emitted on its own\n", u.Kind, u.Name.Text)
		return ds
	case !Standalone(u) && pass.Result != proofStage:
		fmt.Fprintf(w, "// %s %s means something only where it is used\n", u.Kind, u.Name.Text)
		return ds
	}
	c := newCompiler(s, u, Config{})
	c.ds = &ds
	defer caught(u, pass.Name, &ds)
	if c.run(pass.Result, pass.Name) {
		pass.Dump(c, w)
	}
	return ds
}

// dumpPage prints what inspect prints of a page.
func dumpPage(p *spec.Page, w io.Writer) error {
	return (&inspect.Report{Pages: []*spec.Page{p}}).Text(w)
}

func dumpNotation(c *unitCompiler, w io.Writer) {
	fmt.Fprintln(w, notation.Print(c.unit, notation.Unicode))
}

func dumpProof(c *unitCompiler, w io.Writer) { fmt.Fprintln(w, c.report) }

func dumpBlock(c *unitCompiler, w io.Writer) {
	fmt.Fprintln(w, notation.Print(resolvedUnit(c.blk), notation.Unicode))
}

// dumpStages prints the programs of the unit, each with a comment that says what it
// computes, and the calls of parts between them.
func dumpStages(c *unitCompiler, w io.Writer, show func(p *program)) {
	n := 0
	var item func(comment string, p *program)
	item = func(comment string, p *program) {
		if p != nil && p.front != nil {
			item("what its front computes", p.front)
		}
		if n++; n > 1 {
			fmt.Fprintln(w)
		}
		if comment != "" {
			fmt.Fprintf(w, "; %s\n", comment)
		}
		if p != nil {
			show(p)
		}
	}
	for _, s := range c.programs {
		if s.main == nil {
			item(fmt.Sprintf("%s = %s(%s)", s.Out, s.Part, s.Arg), nil)
			continue
		}
		item("", s.main)
		if s.frozen != nil {
			item("the frozen read", s.frozen)
		}
		if s.start != nil {
			item("the states of a new context", s.start)
		}
	}
}

func dumpPrograms(c *unitCompiler, w io.Writer) {
	dumpStages(c, w, func(p *program) { fmt.Fprint(w, p.fn) })
}

func dumpJoint(c *unitCompiler, w io.Writer) {
	dumpStages(c, w, func(p *program) { fmt.Fprint(w, joint(p.fn)) })
}

func dumpPairs(c *unitCompiler, w io.Writer) {
	dumpStages(c, w, func(p *program) {
		if p.pair == nil { // of an update
			fmt.Fprint(w, p.fn)
			return
		}
		fmt.Fprintf(w, "%s\n%s", p.pair.Fwd, p.pair.Bwd)
	})
}

func dumpPlan(c *unitCompiler, w io.Writer) {
	for _, u := range c.packages() {
		eachKernel(emitgo.KernelFiles([]*abi.Unit{u}), func(k *plan.Kernel) {
			n := workOf(u, k)
			fmt.Fprintf(w, "%s; where every size without a default is %d: %d KB read, %d KB written, %d thousand operations, %d thousand functions\n\n",
				k, standardSize, n.read, n.written, n.operations, n.functions)
		})
	}
}

func dumpFused(c *unitCompiler, w io.Writer) {
	eachKernel(c.kernels, func(k *plan.Kernel) {
		if k.Fused == nil {
			fmt.Fprintf(w, "; kernel %s has no fused arithmetic: its sums over rows or lanes have no order by blocks\n\n", k.Name)
			return
		}
		fmt.Fprintln(w, k.Fused)
	})
}

func eachKernel(files []plan.KernelFile, f func(*plan.Kernel)) {
	for _, file := range files {
		for _, k := range file.Kernels {
			f(k)
		}
	}
}

func dumpAssembly(c *unitCompiler, w io.Writer) { dumpFiles(c, ".s", w) }
func dumpGo(c *unitCompiler, w io.Writer)       { dumpFiles(c, ".go", w) }

func dumpCUDA(c *unitCompiler, w io.Writer) {
	for _, f := range c.cuda {
		fmt.Fprintf(w, "==> %s\n%s\n", f.Path, f.Text)
	}
}

// dumpFiles prints the files with an ending, each after its name.
func dumpFiles(c *unitCompiler, ending string, w io.Writer) {
	for _, n := range slices.Sorted(maps.Keys(c.files)) {
		if strings.HasSuffix(n, ending) {
			fmt.Fprintf(w, "-- %s --\n%s", n, c.files[n])
		}
	}
}

// joint is a program with the adjoints of its parameters added, before any of it is
// simplified.
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
