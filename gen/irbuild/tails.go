package irbuild

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
)

// A keptTail is what a context keeps of a series for one window.
type keptTail struct {
	series string
	window *ir.Axis
	eq     string // the equation that looks back
	param  *ir.Value
}

// nameTails gives each tail of a series that several windows look back at the
// name of its width too, k.w.tail: names stand in checkpoints, and the order in
// which the windows were built must not show.
func (e *builder) nameTails() {
	count := map[string]int{}
	for _, t := range e.tails {
		count[t.series]++
	}
	for _, t := range e.tails {
		if count[t.series] > 1 {
			e.renameTail(t, t.series+"."+t.window.Name+".tail")
		}
	}
}

// tailsApart gives the tails of different stages that would have one name that
// of the equation that looks back, X.out.tail: each stage keeps its own.
func tailsApart(stages []*builder) {
	count := map[string]int{}
	for _, e := range stages {
		for _, t := range e.tails {
			count[t.param.Name]++
		}
	}
	for _, e := range stages {
		for _, t := range e.tails {
			if count[t.param.Name] > 1 {
				e.renameTail(t, t.series+"."+t.eq+".tail")
			}
		}
	}
}

// keepTails makes a frozen read keep every tail that the rule keeps, those too
// that no answer of its own needs: the keys that a frozen call has seen are the
// past of the first call that writes again. No gradient goes through them, so a
// parameter that no answer needs receives none, and says so.
func (e *builder) keepTails(blk *check.Block) {
	var quiet diag.List
	b := newBuilder(blk, blk.ID, &quiet)
	b.axes, b.sized = e.axes, e.sized
	rule, names := ruleBuilder(b)
	f := names.rule(rule, nil)
	if f == nil || len(rule.tails) == 0 {
		return // what is wrong with the rule is said where it is built
	}
	e.tailsAs(rule)
	f.Results = slices.DeleteFunc(f.Results, func(r ir.Result) bool {
		return !r.State || !isTail(rule, r.Name) || isTail(e, r.Name)
	})
	f.Sweep()
	args := map[*ir.Value]*ir.Value{}
	used := f.Uses()
	for _, p := range f.Params {
		if used[p] == 0 {
			continue
		}
		mine := e.f.Param(p.Name)
		if mine == nil {
			mine = e.f.AddParam(p.Name, p.Role, p.Elem, p.Axes...)
			mine.NoGrad = p.NoGrad
		}
		args[p] = mine
	}
	out := e.b.Inline(f, args)
	for _, r := range f.Results {
		kept := e.b.Map(ir.Stop, out[r.Name])
		e.f.Results = append(e.f.Results, ir.Result{Name: r.Name, Val: kept, State: true})
	}
}

func isTail(e *builder, name string) bool {
	return slices.ContainsFunc(e.tails, func(t keptTail) bool { return t.param.Name == name })
}

// tailsAs names the tails of a read as its rule does: they are the same memory.
func (e *builder) tailsAs(rule *builder) {
	for _, t := range e.tails {
		for _, u := range rule.tails {
			if t.series == u.series && t.window.Name == u.window.Name {
				e.renameTail(t, u.param.Name)
			}
		}
	}
}

func (e *builder) renameTail(t keptTail, name string) {
	for i, r := range e.f.Results {
		if r.State && r.Name == t.param.Name {
			e.f.Results[i].Name = name
		}
	}
	t.param.Name = name
}
