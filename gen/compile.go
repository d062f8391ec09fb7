package gen

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/lower"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
	"github.com/nl-hecate/hecate/gen/simplify"
	"github.com/nl-hecate/hecate/gen/spec"
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
		c := &unitCompiler{src: s, unit: u, ds: &ds}
		if pu := c.compile(); pu != nil {
			out = append(out, pu)
		}
	}
	return out, ds
}

// CompileUnit lowers one unit; it returns nil for one that is not emitted on
// its own, such as a knob.
func CompileUnit(s *Source, u *notation.Unit) (*abi.Unit, diag.List) {
	var ds diag.List
	c := &unitCompiler{src: s, unit: u, ds: &ds}
	return c.compile(), ds
}

// A unitCompiler takes one unit through the pipeline.
type unitCompiler struct {
	src  *Source
	unit *notation.Unit
	ds   *diag.List
	blk  *check.Block
	out  *abi.Unit
	fns  []*ir.Func
}

var unitKinds = map[notation.UnitKind]abi.UnitKind{notation.OpUnit: abi.OpUnit, notation.RuleUnit: abi.RuleUnit,
	notation.ComposeUnit: abi.ComposeUnit, notation.ModelUnit: abi.ModelUnit, notation.UpdateUnit: abi.UpdateUnit}

func (c *unitCompiler) compile() *abi.Unit {
	kind, ok := unitKinds[c.unit.Kind]
	if !ok || instanceOf(c.unit) {
		return nil
	}
	before := c.ds.Len()
	blk, ds := check.Instantiate(c.src.Tree, c.unit)
	c.ds.Append(ds)
	if blk == nil || ds.HasErrors() {
		return nil
	}
	c.blk = blk
	c.out = &abi.Unit{Kind: kind, Name: c.unit.Name.Text, ID: blk.ID, Page: c.src.Path(c.unit.Span.File.Path), Home: c.src.homeOf(c.unit), Schedule: c.unit.Sched}
	if blk.Strategy != nil {
		c.out.Chunk = blk.Strategy.Length()
	}
	c.header()
	switch kind {
	case abi.OpUnit:
		c.op(irbuild.Op(blk, c.ds))
	case abi.RuleUnit:
		c.rule()
	case abi.ComposeUnit, abi.ModelUnit:
		c.compose()
	case abi.UpdateUnit:
		c.update()
	}
	if c.ds.Len() > before && c.ds.HasErrors() {
		return nil
	}
	c.cuts()
	c.describe()
	c.hash()
	return c.out
}

// hash is the digest of the unit's programs.
func (c *unitCompiler) hash() {
	h := sha256.New()
	for _, f := range c.fns {
		fmt.Fprintln(h, f)
	}
	c.out.Hash = fmt.Sprintf("%x", h.Sum(nil))
}

// instanceOf reports whether a unit is another one with its parts given.
func instanceOf(u *notation.Unit) bool {
	return (u.Kind == notation.ModelUnit || u.Kind == notation.ComposeUnit) && u.Formula != nil
}

// header copies the page's contract.
func (c *unitCompiler) header() {
	p := c.page()
	if p == nil || p.Header == nil {
		return
	}
	for _, f := range p.Header.Fields {
		c.out.Header = append(c.out.Header, abi.Field{Name: string(f.Name), Text: f.Value})
	}
}

func (c *unitCompiler) page() *spec.Page {
	for _, p := range c.src.Pages {
		if p.File == c.unit.Span.File {
			return p
		}
	}
	return nil
}

// lowerPair derives, simplifies and lowers one program.
func (c *unitCompiler) lowerPair(name string, f *ir.Func) abi.Pair {
	if f == nil {
		return abi.Pair{}
	}
	c.fns = append(c.fns, f)
	p := autodiff.NewPair(f)
	if err := ir.Verify(p.Fwd); err != nil {
		panic("gen: BUG: forward of " + f.Name + ": " + err.Error())
	}
	if err := ir.Verify(p.Bwd); err != nil {
		panic("gen: BUG: backward of " + f.Name + ": " + err.Error())
	}
	fwd, bwd, err := lower.Pair(p)
	if err != nil {
		c.ds.Errorf(diag.NotLowered, c.unit.Name.Span, "%s cannot be lowered: %v", c.unit.Name.Text, err)
		return abi.Pair{}
	}
	fwd.Name, bwd.Name = name, name+"Backward"
	if len(p.Bwd.Results) == 0 {
		return abi.Pair{Fwd: fwd}
	}
	return abi.Pair{Fwd: fwd, Bwd: bwd}
}

// op lowers an operation, whose kernels are types beside the function of its name.
func (c *unitCompiler) op(f *ir.Func) {
	name := c.unit.Name.Text
	p := c.lowerPair(name, f)
	if p.Fwd != nil {
		p.Fwd.Name = name + "Call"
	}
	c.out.Stages = append(c.out.Stages, abi.Stage{Name: name, Pair: p})
	c.out.Outputs = []string{"out"}
}

// rule lowers a rule: its chunk, its frozen read, and the start of its states
// where one is learned.
func (c *unitCompiler) rule() {
	step := irbuild.Rule(c.blk, c.ds)
	s := abi.Stage{Name: "Step", Pair: c.lowerPair("Step", step)}
	if c.ds.HasErrors() {
		return
	}
	s.Frozen = c.lowerPair("Read", irbuild.Frozen(c.blk, c.ds))
	if start := irbuild.Start(c.blk, c.ds); start != nil && slices.ContainsFunc(start.Results, func(r ir.Result) bool { return c.starts(r.Name) }) {
		start.Results = slices.DeleteFunc(start.Results, func(r ir.Result) bool { return !c.starts(r.Name) })
		for i := range start.Results {
			start.Results[i].State = false
		}
		slices.SortStableFunc(start.Results, func(a, b ir.Result) int {
			return slices.Index(step.Params, step.Param(a.Name)) - slices.Index(step.Params, step.Param(b.Name))
		})
		start.Sweep()
		s.Start = c.lowerPair("Start", start)
	}
	c.out.Stages = []abi.Stage{s}
	c.out.Outputs = []string{"y"}
}

func (c *unitCompiler) compose() {
	p := irbuild.Compose(c.blk, c.ds)
	if p == nil {
		return
	}
	for _, s := range p.Stages {
		if s.Func == nil {
			c.out.Stages = append(c.out.Stages, abi.Stage{Part: s.Part, Call: calls[s.How], Apart: s.Frozen, Arg: s.Arg, Out: s.Out, Gate: s.Gate, Eq: s.Eq})
			continue
		}
		last := s.Func.Results[0].Name
		for _, r := range s.Func.Results {
			if !r.State {
				last = r.Name
			}
		}
		name := GoName(last)
		c.out.Stages = append(c.out.Stages, abi.Stage{Name: name, Pair: c.lowerPair(name, s.Func)})
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
var calls = map[irbuild.How]abi.PartCall{irbuild.One: abi.OnePart, irbuild.Each: abi.EachPart, irbuild.Chain: abi.ChainParts, irbuild.Opens: abi.OpensLevels}

// update lowers an update: a fire, and the same for matrices of more rows than
// columns where an iteration has a shorter way for them.
func (c *unitCompiler) update() {
	f := irbuild.Update(c.blk, c.ds)
	if f == nil {
		return
	}
	c.fire("Fire", f)
	if tall := irbuild.UpdateTall(c.blk, c.ds); tall != nil {
		c.fire("FireTall", tall)
	}
	if rows, cols, ok := c.blk.Matrices(); ok {
		c.out.Matrix = []string{ident.ASCII(rows.Name), ident.ASCII(cols.Name)}
	}
	if o := c.blk.Fallback; o != nil {
		c.out.Else = &abi.Other{Unit: o.Name, Settings: settings(o)}
	}
}

// fire lowers one form of an update.
func (c *unitCompiler) fire(name string, f *ir.Func) {
	simplify.Simplify(f)
	k, err := lower.Func(f)
	if err != nil {
		c.ds.Errorf(diag.NotLowered, c.unit.Name.Span, "%s cannot be lowered: %v", c.unit.Name.Text, err)
		return
	}
	c.fns = append(c.fns, f)
	k.Name = name
	c.out.Stages = append(c.out.Stages, abi.Stage{Name: name, Pair: abi.Pair{Fwd: k}})
}

// settings are what a header says of the update behind its else.
func settings(o *check.Subpart) []abi.Setting {
	var out []abi.Setting
	for _, a := range o.Formula.Args {
		if x, ok := notation.Constant(a.Value); ok {
			out = append(out, abi.Setting{Name: ident.ASCII(a.Name.Text), Value: x})
		}
	}
	return out
}

// cuts says in what ways the unit's own programs depend on the cut into calls.
// An operation knows no calls, and a frozen read moves no state.
func (c *unitCompiler) cuts() {
	if c.out.Kind == abi.OpUnit || c.out.Kind == abi.UpdateUnit {
		return
	}
	for _, f := range c.fns {
		if !strings.HasSuffix(f.Name, ".frozen") && !strings.HasSuffix(f.Name, ".start") {
			c.out.Cut = append(c.out.Cut, irbuild.Cuts(f)...)
		}
	}
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

// ascii spells the sizes of a polynomial in ASCII.
func ascii(p shape.Poly) shape.Poly {
	for _, s := range p.Symbols() {
		if n := ident.ASCII(s); n != s {
			p = p.Replace(s, shape.Sym(n))
		}
	}
	return p
}
