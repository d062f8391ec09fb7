package trace

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// join gives equations their symbols and tests, and symbols their equations.
func (t *tracer) join() {
	kernels := map[string]bool{} // types whose methods compute
	for _, s := range t.out.Symbols {
		if s.Role == Kernel && s.recv != "" {
			kernels[path.Dir(s.File)+"."+s.recv] = true
		}
	}
	direct := map[string][]*Symbol{}
	for _, s := range t.out.Symbols {
		for _, id := range s.Equations {
			direct[id] = append(direct[id], s)
		}
	}
	for _, e := range t.out.Equations {
		for _, s := range direct[e.ID] {
			e.take(s, path.Dir(s.File)+"."+s.recv, kernels)
		}
		for _, s := range direct[e.Of] { // in a function that the unit calls
			if t.unit(e.Unit).calls(path.Dir(s.File)) {
				e.take(s, path.Dir(s.File)+"."+s.recv, kernels)
			}
		}
	}
	t.parts()
	t.fold()
	t.copies()
	for _, e := range t.out.Equations { // lines of units that are written out elsewhere
		for _, id := range e.In {
			e.add(t.byID[id])
		}
	}
	for _, e := range t.out.Equations { // a line may be written out in a line that is itself written out
		for _, id := range e.In {
			e.add(t.byID[id])
		}
	}
	t.back(kernels)
	t.tests()
}

// take gives a symbol to an equation: the type, where it is the type's method
// that computes.
func (e *Equation) take(s *Symbol, typ string, kernels map[string]bool) {
	name := s.Name
	if s.recv != "" && kernels[typ] {
		name = typ
	}
	e.Symbols, e.Files = with(e.Symbols, name), with(e.Files, s.File)
}

// add gives an equation the symbols of another.
func (e *Equation) add(o *Equation) {
	if o == nil {
		return
	}
	for _, s := range o.Symbols {
		e.Symbols = with(e.Symbols, s)
	}
	for _, f := range o.Files {
		e.Files = with(e.Files, f)
	}
}

func with(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// parts gives the equations that call a part the functions that do.
func (t *tracer) parts() {
	for _, id := range slices.Sorted(maps.Keys(t.blocks)) {
		b := t.blocks[id]
		for _, eq := range b.AllEquations() {
			e := t.byID[eq.ID]
			notation.Inspect(eq.Value(), func(n any) bool {
				c, ok := n.(*notation.Call)
				if !ok {
					return true
				}
				sym := b.Symbols[c.Fun.Text]
				if sym == nil || sym.Kind != check.Part {
					return true
				}
				e.Kind = "part"
				for _, s := range t.out.Symbols {
					if s.Unit == b.ID && slices.Contains(s.calls, ident.ASCII(sym.Name)) && s.Kind == "method" {
						s.Equations = with(s.Equations, e.ID)
						e.Symbols, e.Files = with(e.Symbols, s.Name), with(e.Files, s.File)
					}
				}
				return true
			})
		}
	}
}

// fold finds, for an equation that no comment names, those that compute it:
// the users of its value, and their users where these are folded too.
func (t *tracer) fold() {
	for _, id := range slices.Sorted(maps.Keys(t.blocks)) {
		b := t.blocks[id]
		users := map[string][]*Equation{}
		for _, eq := range b.AllEquations() {
			for _, m := range mentions(b, eq) {
				if m != eq {
					users[m.ID] = append(users[m.ID], t.byID[eq.ID])
				}
			}
		}
		for _, eq := range b.AllEquations() {
			e := t.byID[eq.ID]
			if len(e.Symbols) > 0 {
				continue
			}
			seen := map[*Equation]bool{e: true}
			var visit func(*Equation)
			visit = func(x *Equation) {
				for _, u := range users[x.ID] {
					if seen[u] {
						continue
					}
					seen[u] = true
					if len(u.Symbols) > 0 && len(u.Folded) == 0 {
						e.Folded = with(e.Folded, u.ID)
					} else {
						visit(u)
					}
				}
			}
			visit(e)
			for _, f := range e.Folded {
				e.add(t.byID[f])
			}
		}
	}
}

// copies gives a first value that is another value, and so has no statement, what computes its
// state: that begins with it.
func (t *tracer) copies() {
	for _, e := range t.out.Equations {
		of, _ := ir.InitialOf(e.ID)
		state := t.byID[of]
		if e.Kind == "start" && len(e.Symbols) == 0 && state != nil && len(state.Symbols) > 0 {
			e.Folded = with(e.Folded, state.ID)
			e.add(state)
		}
	}
}

// back gives every symbol of a unit its equations: a kernel those that it
// computes, the type of a kernel those of its methods, the face all of them.
func (t *tracer) back(kernels map[string]bool) {
	own := map[string][]string{}
	of := map[string][]string{}
	for _, e := range t.out.Equations {
		own[e.Unit] = append(own[e.Unit], e.ID)
		for _, s := range e.Symbols {
			of[s] = append(of[s], e.ID)
		}
	}
	for _, s := range t.out.Symbols {
		if s.Unit == "" {
			continue
		}
		typ := s.Name
		if s.recv != "" {
			typ = path.Dir(s.File) + "." + s.recv
		}
		switch {
		case kernels[typ]:
			s.Role = Kernel
			for _, id := range of[typ] {
				if t.byID[id].Unit == s.Unit {
					s.Equations = with(s.Equations, id)
				}
			}
		case s.Role == Kernel:
		default:
			s.Equations = slices.Clone(own[s.Unit])
		}
	}
}

// tests gives equations and symbols the tests of their units.
func (t *tracer) tests() {
	of := map[string][]string{}
	for _, u := range t.out.Units {
		of[u.ID] = u.Tests
	}
	for _, s := range t.out.Symbols {
		s.Tests = of[s.Unit]
	}
	for _, e := range t.out.Equations {
		e.Tests = slices.Clone(of[e.Unit])
		for _, id := range e.In {
			for _, n := range of[t.byID[id].Unit] {
				e.Tests = with(e.Tests, n)
			}
		}
		if line := t.byID[e.Of]; line != nil { // those of the functions that compute it for the unit
			for _, n := range of[line.Unit] {
				if t.unit(e.Unit).calls(n[:strings.LastIndexByte(n, '.')]) {
					e.Tests = with(e.Tests, n)
				}
			}
		}
	}
}

func (t *tracer) sort() {
	slices.SortFunc(t.out.Units, func(a, b *Unit) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(t.out.Equations, func(a, b *Equation) int { return strings.Compare(a.ID, b.ID) })
	slices.SortStableFunc(t.out.Symbols, func(a, b *Symbol) int { return strings.Compare(a.Name, b.Name) })
	slices.SortStableFunc(t.out.Tests, func(a, b *Test) int { return strings.Compare(a.Name, b.Name) })
	for _, u := range t.out.Units {
		slices.Sort(u.UsedBy)
		slices.Sort(u.Tests)
	}
	for _, e := range t.out.Equations {
		for _, l := range [][]string{e.In, e.Folded, e.Files, e.Symbols, e.Tests} {
			slices.Sort(l)
		}
	}
	for _, s := range t.out.Symbols {
		slices.Sort(s.Equations)
	}
}
