package gen

import (
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/shape"
)

// contract says what callers of the unit need to know: its page, sizes, parameters,
// states and inputs, and the digest of its programs.
func (c *unitCompiler) contract() {
	if s := c.blk.Strategy; s != nil && !s.Frozen { // one that only freezes reads computes token by token
		c.out.Chunk = s.Length()
	}
	c.header(c.unit)
	c.each(func(p *program) {
		if p.whole != nil {
			c.fns = append(c.fns, p.whole)
		}
	})
	c.cuts()
	c.describe()
	c.hash()
}

// header copies the contract of the page of a unit.
func (c *unitCompiler) header(u *notation.Unit) {
	p := c.src.pageOf(u)
	if p == nil || p.Header == nil {
		return
	}
	for _, f := range p.Header.Fields {
		c.out.Header = append(c.out.Header, abi.Field{Name: string(f.Name), Text: f.Value})
	}
}

// hash is the digest of the unit's programs.
func (c *unitCompiler) hash() {
	h := sha256.New()
	for _, f := range c.fns {
		fmt.Fprintln(h, f)
	}
	c.out.Hash = fmt.Sprintf("%x", h.Sum(nil))
}

// cuts says in what ways the unit's own programs depend on the cut into calls.
// An operation knows no calls, and a frozen read moves no state.
func (c *unitCompiler) cuts() {
	if c.out.Kind == abi.OpUnit || c.out.Kind == abi.UpdateUnit {
		return
	}
	for _, f := range c.fns {
		if f.MovesState() {
			c.out.Cut = append(c.out.Cut, irbuild.Cuts(f)...)
		}
	}
}

// describe says what the buffers of a unit's kernels are to a caller: sizes,
// learned parameters, states, inputs and constants, each once, from the
// programs and the declarations that they come from.
func (c *unitCompiler) describe() {
	seen := map[string]bool{}
	for _, f := range c.fns {
		for _, p := range f.Params {
			if !seen[p.Name] {
				seen[p.Name] = true
				c.param(p)
			}
		}
	}
	c.passedOn()
	c.sizes()
	c.equations()
}

// passedOn adds the inputs that only go to a part.
func (c *unitCompiler) passedOn() {
	for _, s := range c.blk.SymSeq {
		name := ident.ASCII(s.Name)
		if s.Kind != check.Input || c.out.Kind == abi.UpdateUnit ||
			slices.ContainsFunc(c.out.Inputs, func(v abi.Value) bool { return v.Name == name }) {
			continue
		}
		v := abi.Value{Name: name, Elem: ir.Real}
		for _, x := range s.Type.Shape {
			p, _ := c.blk.SizeOf(x, nil)
			v.Dims = append(v.Dims, p.Rename(ident.ASCII))
		}
		c.out.Inputs = append(c.out.Inputs, v)
	}
}

func (c *unitCompiler) param(p *ir.Value) {
	dims := dimsOf(p)
	switch p.Role {
	case ir.Outer:
		c.out.Weights = append(c.out.Weights, c.weight(p, dims))
	case ir.State:
		if p.Elem == ir.Real && !(c.out.Kind == abi.UpdateUnit && p.Name == c.updated()) {
			c.out.States = append(c.out.States, abi.State{Name: p.Name, Dims: dims, Starts: c.starts(p.Name), Rows: c.rows(p.Name), Domain: c.stays(p.Name), Tail: p.IsWindow()})
		}
	case ir.Input:
		if p.IsPartInput() || c.madeHere(p.Name) {
			return
		}
		c.out.Inputs = append(c.out.Inputs, c.value(p, dims))
	case ir.Constant:
		c.out.Consts = append(c.out.Consts, c.value(p, dims))
	}
}

// updated is the parameter that an update changes: the first of its header.
func (c *unitCompiler) updated() string { return ident.ASCII(c.blk.Unit.Params[0].Name.Text) }

// madeHere reports whether an input of a stage is made by an earlier one.
func (c *unitCompiler) madeHere(name string) bool {
	return slices.ContainsFunc(c.blk.Eqs, func(eq *check.Equation) bool { return ident.ASCII(eq.Name) == name })
}

// dimsOf are the dimensions of a value without the axis of the batch.
func dimsOf(p *ir.Value) []shape.Poly {
	var out []shape.Poly
	for i, a := range p.Axes {
		if i == 0 && a.Name == "L" {
			continue
		}
		out = append(out, a.Size)
	}
	return out
}

// symbol finds the declaration of an ASCII name.
func (c *unitCompiler) symbol(name string) *check.Symbol {
	i := slices.IndexFunc(c.blk.SymSeq, func(s *check.Symbol) bool { return ident.ASCII(s.Name) == name })
	if i < 0 {
		return nil
	}
	return c.blk.SymSeq[i]
}

func (c *unitCompiler) weight(p *ir.Value, dims []shape.Poly) abi.Weight {
	w := abi.Weight{Name: p.Name, Dims: dims, Init: abi.Init{Kind: abi.Fixed0}}
	s := c.symbol(p.Name)
	if s == nil || s.Decl == nil {
		return w
	}
	d := s.Decl
	w.Fixed = p.NoGrad
	has := func(word string) bool {
		return slices.ContainsFunc(d.Attrs, func(a *notation.Word) bool { return a.Text == word })
	}
	w.NoDecay, w.Entries = w.Fixed || has("nodecay"), has("entrywise")
	switch {
	case len(d.ByLevel) > 0:
		w.Init.Kind = abi.Levels
		for _, x := range d.ByLevel {
			n, _ := notation.Constant(x)
			w.Init.Levels = append(w.Init.Levels, n)
		}
	case d.Dist != nil:
		if call, ok := d.Dist.(*notation.Call); ok && len(call.Args) == 2 {
			w.Init = abi.Init{Kind: abi.Uniform, A: c.sizeExpr(call.Args[0]), B: c.sizeExpr(call.Args[1])}
			if call.Fun.Text == "normal" {
				w.Init.Kind = abi.Normal
			}
		}
	case d.Init != nil:
		w.Init.A = c.sizeExpr(d.Init)
	}
	if seed, ok := notation.Constant(d.Seed); ok && d.Seed != nil {
		w.Init.Stream, w.Init.Seed = p.Name, uint64(seed)
	}
	return w
}

// sizeExpr turns a number that depends on sizes into its tree.
func (c *unitCompiler) sizeExpr(x notation.Expr) abi.SizeExpr {
	if n, ok := notation.Constant(x); ok {
		return abi.SizeExpr{Op: "num", Num: n}
	}
	switch x := x.(type) {
	case *notation.Ident:
		if n, ok := c.option(x.Name.Text); ok {
			return abi.SizeExpr{Op: "num", Num: n}
		}
		if p, ok := c.blk.SizeOf(x, nil); ok {
			return abi.SizeExpr{Op: "size", Size: p.Rename(ident.ASCII)}
		}
	case *notation.Unary:
		return abi.SizeExpr{Op: "neg", Args: []abi.SizeExpr{c.sizeExpr(x.X)}}
	case *notation.Juxt:
		out := c.sizeExpr(x.Items[0])
		for _, it := range x.Items[1:] {
			out = abi.SizeExpr{Op: "mul", Args: []abi.SizeExpr{out, c.sizeExpr(it)}}
		}
		return out
	case *notation.Binary:
		op := map[string]string{"+": "add", "−": "sub", "·": "mul", "/": "div"}[x.Op]
		return abi.SizeExpr{Op: op, Args: []abi.SizeExpr{c.sizeExpr(x.X), c.sizeExpr(x.Y)}}
	case *notation.Call:
		if x.Fun.Text == "sqrt" && len(x.Args) == 1 {
			return abi.SizeExpr{Op: "sqrt", Args: []abi.SizeExpr{c.sizeExpr(x.Args[0])}}
		}
	}
	panic("gen: BUG: not a number of sizes: " + notation.Print(x, notation.Unicode))
}

// option is the value of an option that is no size.
func (c *unitCompiler) option(name string) (float64, bool) {
	if c.blk.Options[name] == nil || c.blk.Axes[name] != nil {
		return 0, false
	}
	return notation.Constant(c.blk.Options[name].Value)
}

// starts reports whether a state begins with something else than zeros.
func (c *unitCompiler) starts(name string) bool { return c.blk.NonzeroStart(c.symbol(name)) }

// rows is the set that a page says a state's rows stay in.
func (c *unitCompiler) rows(name string) abi.RowSet {
	s := c.symbol(name)
	if s == nil || s.Kind != check.State {
		return abi.AnyRows
	}
	switch c.blk.RowSet(s) {
	case notation.SphereType:
		return abi.UnitRows
	case notation.SimplexType:
		return abi.Distributions
	}
	return abi.AnyRows
}

func (c *unitCompiler) value(p *ir.Value, dims []shape.Poly) abi.Value {
	v := abi.Value{Name: p.Name, Elem: p.Elem, Dims: dims}
	s := c.symbol(p.Name)
	if s != nil && s.Type != nil && s.Type.Kind == notation.IntType {
		v.Lo, v.Hi, v.HasRange = c.bound(s.Type.Lo), c.bound(s.Type.Hi), true
		for _, m := range s.Type.Members {
			if n, ok := notation.Constant(m); ok {
				v.Extra = append(v.Extra, int(n))
			}
		}
	}
	if s != nil && p.Elem == ir.Real && c.out.Kind != abi.FunctionUnit {
		v.Domain = domain(s.Type)
	}
	for name, o := range c.blk.Options {
		if ident.ASCII(name) == p.Name {
			v.Setting, v.HasSetting = notation.Constant(o.Value)
			v.Domain = domain(o.Decl.Type)
		}
	}
	return v
}

// stays is the range that a state is declared in, or nil.
func (c *unitCompiler) stays(name string) *abi.Domain {
	if s := c.symbol(name); s != nil && s.Kind == check.State {
		return domain(s.Type)
	}
	return nil
}

// domain is the range that an option or a state is declared in.
func domain(t *notation.Type) *abi.Domain {
	if t == nil || t.Kind != notation.RangeType && t.Kind != notation.IntType {
		return nil
	}
	end := func(x notation.Expr, none float64) float64 {
		if v, ok := notation.Constant(x); x != nil && ok {
			return v
		}
		return none
	}
	return &abi.Domain{Lo: end(t.Lo, math.Inf(-1)), Hi: end(t.Hi, math.Inf(1)), LoOpen: t.LoOpen, HiOpen: t.HiOpen, Whole: t.Kind == notation.IntType,
		Text: strings.TrimPrefix(notation.Print(t, notation.Unicode), "∈ ")}
}

// bound is an end of a range of indices.
func (c *unitCompiler) bound(e notation.Expr) shape.Poly {
	p, ok := c.blk.SizeOf(e, nil)
	if !ok {
		c.ds.Errorf(diag.UnknownAxis, e.Where(), "%s is not a size, and a range of indices ends at sizes", notation.Print(e, notation.Unicode)).
			Hint("use integers and the axes of the signature")
	}
	return p.Rename(ident.ASCII)
}

// sizes lists the free sizes of the unit's programs, without the batch and the tokens.
func (c *unitCompiler) sizes() {
	var names []string
	for _, f := range c.fns {
		for _, p := range f.Params {
			for _, a := range p.Axes {
				names = append(names, a.Size.Symbols()...)
			}
		}
		for _, a := range f.Axes {
			names = append(names, a.Size.Symbols()...)
		}
	}
	seen := map[string]bool{"L": true, "T": c.out.Kind != abi.OpUnit}
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		c.out.Sizes = append(c.out.Sizes, c.size(n))
	}
	if c.out.Kind == abi.FunctionUnit {
		return
	}
	if c.blk.Heads != nil {
		c.inHeads()
	}
	for _, a := range c.blk.AxisSeq {
		if len(a.Factors) > 0 {
			var fs []string
			for _, f := range a.Factors {
				fs = append(fs, ident.ASCII(f))
			}
			c.out.Sizes = append(c.out.Sizes, abi.Size{Name: ident.ASCII(a.Name), Value: a.Size.Rename(ident.ASCII), Product: fs})
		}
	}
}

// inHeads makes the width of a rule in heads the product that it is: the width of a
// head is what follows from the other two.
func (c *unitCompiler) inHeads() {
	y := c.fns[0].Result("y").Axes
	wide, heads := y[len(y)-1], ident.ASCII(c.blk.Heads.Name)
	fs := []string{heads}
	for _, s := range wide.Size.Symbols() {
		if s != heads {
			fs = append(fs, s)
		}
	}
	c.out.Sizes = append(c.out.Sizes, abi.Size{Name: wide.Name, Value: wide.Size, Product: fs})
}

func (c *unitCompiler) size(name string) abi.Size {
	s := abi.Size{Name: name, Value: shape.Sym(name), Free: true, Default: -1, Least: 1}
	for _, a := range c.blk.AxisSeq {
		if ident.ASCII(a.Name) == name && a.Default > 0 {
			s.Default = a.Default
		}
	}
	for _, p := range c.out.Parts {
		if p.Count == name {
			s.Counts = p.Name
		}
	}
	if strings.HasPrefix(name, "n_") {
		s.Least = 0 // a count of extra rows may be none
	}
	return s
}

// equations lists the unit's equations with their ids and citations.
func (c *unitCompiler) equations() {
	for _, eq := range c.blk.AllEquations() {
		c.out.Equations = append(c.out.Equations, c.equation(eq, eq.ID))
	}
}

// equation is an equation under an id.
func (c *unitCompiler) equation(eq *check.Equation, id string) abi.Equation {
	e := abi.Equation{ID: id, Text: c.lineOf(eq)}
	if eq.Def != nil && eq.Def.Cite != nil {
		e.Cite = eq.Def.Cite.List()
	}
	return e
}

// lineOf is an equation as the page has it; that of a family's member is written
// out for the member.
func (c *unitCompiler) lineOf(eq *check.Equation) string {
	_, member := notation.CutMember(eq.Name)
	switch {
	case member == "":
		return strings.TrimSpace(eq.Span().Text())
	case eq.Gate != nil:
		one := &notation.Declare{Keyword: notation.Word{Text: "gate"}, Names: []*notation.DeclName{eq.Gate}}
		return strings.TrimPrefix(notation.Print(one, notation.Unicode), "gate ")
	}
	return notation.Print(eq.Def, notation.Unicode)
}
