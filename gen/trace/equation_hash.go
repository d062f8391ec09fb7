package trace

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/simplify"
)

// programsOf builds the programs of a block as they come from the page.
func programsOf(b *check.Block) []*ir.Func {
	var ds diag.List
	var out []*ir.Func
	switch b.Unit.Kind {
	case notation.OpUnit:
		out = append(out, irbuild.Op(b, &ds))
	case notation.RuleUnit:
		out = append(out, irbuild.Rule(b, &ds), irbuild.Start(b, &ds))
	case notation.UpdateUnit:
		out = append(out, irbuild.Update(b, &ds))
	case notation.ComposeUnit, notation.ModelUnit:
		if p := irbuild.Compose(b, &ds); p != nil {
			for _, s := range p.Stages {
				if s.Func != nil {
					out = append(out, s.Func)
				}
			}
		}
	}
	if ds.HasErrors() {
		return nil
	}
	return out
}

// programHash is the hash of the program of one equation of a block, "" for none.
func (t *tracer) programHash(b *check.Block, id string) string {
	if _, built := t.programs[b]; !built {
		t.programs[b] = programsOf(b)
	}
	return equationHash(t.programs[b], b.ID, id)
}

// equationHash is the hash of the normal form of the instructions of one
// equation. Values from outside keep their names; values that the equation defines have
// no names.
func equationHash(fs []*ir.Func, unit, id string) string {
	var found []string
	var visit func(f *ir.Func)
	visit = func(f *ir.Func) {
		if g := cutOut(f, unit, id); g != nil {
			found = append(found, simplify.Hash(g)[:16])
		}
		for _, in := range f.Body {
			if in.Scan != nil {
				visit(in.Scan.Body)
			}
		}
	}
	for _, f := range fs {
		if f != nil {
			visit(f)
		}
	}
	return strings.Join(found, "-")
}

// cutOut makes a program of the instructions of one equation, nil when there
// are none.
func cutOut(f *ir.Func, unit, id string) *ir.Func {
	mine := map[*ir.Instr]bool{}
	used := map[*ir.Value]bool{}
	for _, in := range f.Body {
		if in.Eq == id && in.Scan == nil {
			mine[in] = true
			continue
		}
		for _, v := range in.Reads() {
			used[v] = true
		}
	}
	if len(mine) == 0 {
		return nil
	}
	for _, r := range f.Results {
		used[r.Val] = true
	}
	g := &ir.Func{Axes: f.Axes}
	c := ir.NewCloner(g)
	made, uses := map[string]int{}, f.Uses()
	for _, in := range f.Body {
		if !mine[in] {
			continue
		}
		for _, v := range in.Reads() {
			if c.Map[v] != nil || v.Def != nil && mine[v.Def] {
				continue
			}
			name := v.Name
			if v.Def != nil {
				name = strings.TrimPrefix(v.Def.Eq, unit+".")
				if made[name]++; made[name] > 1 {
					name = fmt.Sprintf("%s.%d", name, made[name])
				}
			}
			c.Map[v] = g.AddParam(g.Fresh(name), ir.Input, v.Elem, v.Axes...)
		}
		n := c.Instr(in)
		for _, v := range in.Defines() {
			if used[v] || v.Def == in && uses[v] == 0 { // or a scan carries it, or makes it an output
				g.Results = append(g.Results, ir.Result{Name: fmt.Sprintf("out%d", len(g.Results)), Val: n.Out})
			}
		}
	}
	if len(g.Results) == 0 { // the carry of a scan is no result of its body
		last := g.Body[len(g.Body)-1]
		g.Results = append(g.Results, ir.Result{Name: "out0", Val: last.Out})
	}
	return g
}
