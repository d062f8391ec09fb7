package gen

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/spec"
	"github.com/nl-hecate/hecate/gen/tree"
)

// Compile lowers every unit of a project that is emitted. Nothing is returned
// for a unit that has an error.
func Compile(s *Source) ([]*abi.Unit, diag.List) {
	var ds diag.List
	var out []*abi.Unit
	for _, u := range s.Tree.Order {
		if u.Example || !s.Own(u) {
			continue
		}
		pu, ud := CompileUnit(s, u)
		ds.Append(ud)
		if pu != nil {
			out = append(out, pu)
		}
	}
	return out, ds
}

// CompileUnit lowers one unit; it returns nil for one that is not emitted on
// its own, such as a knob.
func CompileUnit(s *Source, u *notation.Unit) (*abi.Unit, diag.List) {
	if !s.compiled(u) {
		return nil, diag.List{}
	}
	c := newCompiler(s, u, Config{})
	if !c.run(codeStage, "abi") {
		return nil, *c.ds
	}
	return c.out, *c.ds
}

// A unitCompiler takes one unit through the passes. The fields are the outputs of the
// passes, in their order.
type unitCompiler struct {
	src    *Source
	unit   *notation.Unit
	conf   Config
	passes []Pass
	stats  *Stats
	ds     *diag.List

	deep     bool // for the proof
	report   *proof.Report
	blk      *check.Block
	programs []unitStage
	fns      []*ir.Func
	out      *abi.Unit
	kernels  []plan.KernelFile
	files    tree.Files
	cuda     []emitcuda.File
}

func newCompiler(s *Source, u *notation.Unit, c Config) *unitCompiler {
	return &unitCompiler{src: s, unit: u, conf: c, passes: Pipeline, ds: &diag.List{}, files: tree.Files{}}
}

// A unitStage is a call of a part, or programs that become kernels: the stage
// itself, and of a rule the frozen read and the learned first states.
type unitStage struct {
	abi.Stage
	main, frozen, start *program
}

// A program is a tensor program with what the passes make of it.
type program struct {
	name  string   // of its kernels
	whole *ir.Func // as the block says it; nil for the function of a front
	fn    *ir.Func // without what front computes
	front *program // the function of the rule's front, or nil
	pair  *ir.Pair // nil for an update, which has no backward
}

// each calls f for the programs in their order, a function before its caller.
func (c *unitCompiler) each(f func(p *program)) {
	for _, s := range c.programs {
		for _, p := range []*program{s.main, s.frozen, s.start} {
			if p != nil && p.front != nil {
				f(p.front)
			}
			if p != nil {
				f(p)
			}
		}
	}
}

var unitKinds = map[notation.UnitKind]abi.UnitKind{notation.OpUnit: abi.OpUnit, notation.RuleUnit: abi.RuleUnit,
	notation.ComposeUnit: abi.ComposeUnit, notation.ModelUnit: abi.ModelUnit, notation.UpdateUnit: abi.UpdateUnit}

// Standalone reports whether a unit is resolved by itself; knobs, fronts, laws and
// functions mean something only in the units that use them.
func Standalone(u *notation.Unit) bool { return unitKinds[u.Kind] != 0 }

// compiled reports whether a unit has kernels of its own.
func (s *Source) compiled(u *notation.Unit) bool { return Standalone(u) && !s.Tree.Instance(u) }

// resolve makes the block of the unit.
func (c *unitCompiler) resolve() {
	blk, ds := check.Instantiate(c.src.Tree, c.unit)
	c.ds.Append(ds)
	c.blk = blk
}

// build makes the tensor programs of the block.
func (c *unitCompiler) build() {
	c.out = &abi.Unit{Kind: unitKinds[c.unit.Kind], Name: c.unit.Name.Text, ID: c.blk.ID, Page: c.src.Path(c.unit.Span.File.Path), Home: c.src.homeOf(c.unit), Schedule: c.unit.Sched}
	switch c.out.Kind {
	case abi.OpUnit:
		c.op(irbuild.Op(c.blk, c.ds))
	case abi.RuleUnit:
		c.rule()
	case abi.ComposeUnit, abi.ModelUnit:
		c.compose()
	case abi.UpdateUnit:
		c.update()
	}
}

// differentiate derives and simplifies the backward of each program. An update has none.
func (c *unitCompiler) differentiate() {
	c.each(func(p *program) {
		if c.out.Kind == abi.UpdateUnit {
			simplify.Simplify(p.fn)
			return
		}
		if c.out.Kind == abi.RuleUnit && p.whole != nil { // a memory is float32; what its front projects need not be
			p.pair = autodiff.NewPair(p.fn)
			return
		}
		p.pair = autodiff.NewMixedPair(p.fn, c.gate)
	})
}

// gate reports whether an equation of a program, which has its unit in front of its name, is that of a gate.
func (c *unitCompiler) gate(eq string) bool {
	name := eq[strings.LastIndexByte(eq, '.')+1:]
	return slices.ContainsFunc(c.blk.Eqs, func(e *check.Equation) bool { return e.Gate != nil && ident.ASCII(e.Name) == name })
}

func (c *unitCompiler) verifyPrograms() (err error) {
	c.each(func(p *program) { err = errors.Join(err, ir.Verify(p.fn)) })
	return err
}

func (c *unitCompiler) verifyPairs() (err error) {
	c.each(func(p *program) {
		if p.pair != nil {
			err = errors.Join(err, ir.Verify(p.pair.Fwd), ir.Verify(p.pair.Bwd))
		}
	})
	return err
}

// lower makes loop nests of the programs. It stops at the first that has none.
func (c *unitCompiler) lower() {
	for i := range c.programs {
		s := &c.programs[i]
		s.Pair, s.Frozen, s.Start = c.lowered(s.main), c.lowered(s.frozen), c.lowered(s.start)
		c.out.Stages = append(c.out.Stages, s.Stage)
	}
}

// lowered makes the kernels of a program.
func (c *unitCompiler) lowered(p *program) (out abi.Pair) {
	if p == nil || c.ds.HasErrors() {
		return out
	}
	var err error
	if p.pair == nil {
		out.Fwd, err = lower.Func(p.fn)
	} else {
		out.Fwd, out.Bwd, err = lower.Pair(p.pair)
		out.Needs = needs(p.pair.Bwd)
	}
	if err != nil {
		c.ds.Errorf(diag.NotLowered, c.unit.Name.Span, "%s cannot be lowered: %v", c.unit.Name.Text, err)
		return abi.Pair{}
	}
	out.Fwd.Name = p.name
	if c.out.Kind == abi.OpUnit {
		out.Fwd.Name += "Call" // beside the function of the operation's name
	}
	if out.Bwd != nil {
		out.Bwd.Name = p.name + "Backward"
		if len(p.pair.Bwd.Results) == 0 {
			out.Bwd = nil
		}
	}
	if p.front != nil {
		out.Function = c.function(p.front)
	}
	return out
}

// needs lists, for each value that a backward returns an adjoint of, the results of the
// forward whose adjoints it depends on, sorted.
func needs(bwd *ir.Func) map[string][]string {
	from := map[*ir.Value]map[string]bool{}
	for _, p := range bwd.Params {
		if of, ok := ir.AdjointOf(p.Name); ok {
			from[p] = map[string]bool{of: true}
		}
	}
	for _, in := range bwd.Body {
		all := map[string]bool{}
		for _, v := range in.Reads() {
			maps.Copy(all, from[v])
		}
		for _, v := range in.Defines() {
			from[v] = all
		}
	}
	out := map[string][]string{}
	for _, r := range bwd.Results {
		if of, ok := ir.AdjointOf(r.Name); ok {
			out[of] = slices.Sorted(maps.Keys(from[r.Val]))
		}
	}
	return out
}

// pageOf is the page of a unit.
func (s *Source) pageOf(u *notation.Unit) *spec.Page {
	for _, p := range s.Pages {
		if p.File == u.Span.File {
			return p
		}
	}
	return nil
}

// op builds an operation.
func (c *unitCompiler) op(f *ir.Func) {
	name := c.unit.Name.Text
	c.programs = []unitStage{{Stage: abi.Stage{Name: name}, main: newProgram(name, f)}}
	c.out.Outputs = []string{"out"}
}

// newProgram is the program of a function, nil for none.
func newProgram(name string, f *ir.Func) *program {
	if f == nil {
		return nil
	}
	return &program{name: name, whole: f, fn: f}
}

// rule builds a rule: its step, its frozen read, and its first states where one is
// learned.
func (c *unitCompiler) rule() {
	step := irbuild.Rule(c.blk, c.ds)
	s := unitStage{Stage: abi.Stage{Name: "Step"}, main: newProgram("Step", step)}
	if c.ds.HasErrors() {
		return
	}
	s.frozen = newProgram("Read", irbuild.Frozen(c.blk, c.ds))
	if start := irbuild.Start(c.blk, c.ds); start != nil && slices.ContainsFunc(start.Results, func(r ir.Result) bool { return c.starts(r.Name) }) {
		start.Results = slices.DeleteFunc(start.Results, func(r ir.Result) bool { return !c.starts(r.Name) })
		for i := range start.Results {
			start.Results[i].State = false
		}
		slices.SortStableFunc(start.Results, func(a, b ir.Result) int {
			return slices.Index(step.Params, step.Param(a.Name)) - slices.Index(step.Params, step.Param(b.Name))
		})
		start.Sweep()
		s.start = newProgram("Start", start)
	}
	c.programs = []unitStage{s}
	c.out.Outputs = []string{"y"}
}

// compose builds a composition or a model.
func (c *unitCompiler) compose() {
	p := irbuild.Compose(c.blk, c.ds)
	if p == nil {
		return
	}
	for _, s := range p.Stages {
		if s.Func == nil {
			c.programs = append(c.programs, unitStage{Stage: abi.Stage{Part: s.Part, Call: calls[s.How], Apart: s.Frozen, Arg: s.Arg, Out: s.Out, Gate: s.Gate, Eq: s.Eq}})
			continue
		}
		last := s.Func.Results[0].Name
		for _, r := range s.Func.Results {
			if !r.State {
				last = r.Name
			}
		}
		name := GoName(last)
		c.programs = append(c.programs, unitStage{Stage: abi.Stage{Name: name}, main: newProgram(name, s.Func)})
	}
	c.out.Outputs = p.Output
	for _, part := range c.blk.Parts {
		q := abi.Part{Name: part.Name, Kind: part.Kind}
		q.Site = slices.ContainsFunc(p.Stages, func(s irbuild.Stage) bool { return s.Part == part.Name && s.Frozen })
		if part.List != "" {
			q.Count = ident.ASCII(c.blk.CountAxis(part.List).Name)
		}
		if l := c.blk.LevelsOf(part.List); l != nil {
			q.Levels, q.Gated, q.Periods = true, l.Gate != "", l.Periods
		}
		c.out.Parts = append(c.out.Parts, q)
	}
}

// calls are the calls of parts as the emitters know them.
var calls = map[irbuild.How]abi.PartCall{irbuild.One: abi.OnePart, irbuild.Each: abi.EachPart, irbuild.Chain: abi.ChainParts, irbuild.ResidualChain: abi.ResidualChain, irbuild.Opens: abi.OpensLevels}

// update builds an update: its step, and the same for matrices of more rows than
// columns where an iteration has a shorter form for them.
func (c *unitCompiler) update() {
	f := irbuild.Update(c.blk, c.ds)
	if f == nil {
		return
	}
	c.programs = []unitStage{{Stage: abi.Stage{Name: "Step"}, main: newProgram("Step", f)}}
	if tall := irbuild.UpdateTall(c.blk, c.ds); tall != nil {
		c.programs = append(c.programs, unitStage{Stage: abi.Stage{Name: "StepTall"}, main: newProgram("StepTall", tall)})
	}
	c.out.Entrywise = f.Entrywise()
	if rows, cols, ok := c.blk.Matrices(); ok {
		c.out.Entrywise = false
		c.out.Matrix = []string{ident.ASCII(rows.Name), ident.ASCII(cols.Name)}
	}
	if o := c.blk.Fallback; o != nil {
		c.out.Else = &abi.Other{Unit: o.Name, Settings: settings(o)}
	}
}

// settings are what a header says of the update after its else.
func settings(o *check.Subpart) []abi.Setting {
	var out []abi.Setting
	for _, a := range o.Formula.Args {
		if x, ok := notation.Constant(a.Value); ok {
			out = append(out, abi.Setting{Name: ident.ASCII(a.Name.Text), Value: x})
		}
	}
	return out
}

// GoName is an exported Go name for an ASCII name: w_rho becomes WRho.
func GoName(name string) string {
	var b strings.Builder
	up := true
	for _, r := range ident.ASCII(name) {
		if r == '_' || r == '.' {
			up = true
			continue
		}
		if up {
			b.WriteString(strings.ToUpper(string(r)))
			up = false
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
