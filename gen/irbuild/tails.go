package irbuild

import "github.com/nl-hecate/hecate/gen/ir"

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
