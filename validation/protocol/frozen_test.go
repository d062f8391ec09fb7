package protocol

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ident"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A level that is frozen answers from the memory that it has. So its gradient reaches
// what the read needs and nothing else: of a rule with keys and values of its own
// never what makes those, nor a gate; its states stay as they were to the last bit, or
// as its context begins; and what its windows look back at goes on, as if it had
// written.

// writes are the parameters of the common front that only a write needs.
var writes = []string{"W_K", "W_V", "b_rho", "w_rho", "b_theta", "w_theta", "b_eta", "w_eta"}

// readersOf are the rules whose frozen read needs one of them all the same.
var readersOf = map[string]string{"Comba": "what it asks for is corrected by the key"}

// TestFrozen checks every scenario with a closed level.
func TestFrozen(t *testing.T) {
	t.Parallel()
	levels := 0
	for _, x := range scenarios() {
		if x.mask == all(x.levels) {
			continue
		}
		s := newSubject[float64](t, x, small(x), 4)
		s.grow(mixed)
		got := s.backward()
		older := newSubject[float64](t, x, small(x), 4)
		older.grow(old)
		aged := older.backward()
		o := newStarts(s)
		begun := o.begin(o.inputs(s))
		for l := range x.levels {
			if !x.closed(l) {
				continue
			}
			for _, p := range levelsOf(s, l) {
				levels++
				if !p.gradients(t, s, got, true) && !p.empty(s) && !p.heard(t, x) {
					t.Errorf("%v: no gradient from %s, which is frozen and not empty", s.x, p.name)
				}
				p.states(t, s, got, begun)
				p.gradients(t, s, aged, false)
			}
			tails(t, s, l, got)
		}
	}
	t.Logf("%d frozen rules", levels)
}

// empty reports whether the memory of a closed level holds nothing but zeros: a gate
// that was always shut never let it be written.
func (c closedLevel) empty(s *subject[float64]) bool {
	empty := true
	s.mem.Each("", func(name string, _ []int, data []float64) {
		if strings.HasPrefix(name, c.name) && !strings.HasSuffix(name, ".tail") && nonzero(data) {
			empty = false
		}
	})
	return empty
}

// A closed level is one rule of a list, in one block.
type closedLevel struct {
	name    string // of its memory
	prefix  string // of its parameters
	rule    string
	allowed []string // the parameters that its frozen read needs
	first   []string // those that a context begins with
}

// levelsOf finds the rules of a level in all blocks of a model.
func levelsOf(s *subject[float64], level int) []closedLevel {
	var out []closedLevel
	var visit func(b *check.Block, name string)
	visit = func(b *check.Block, name string) {
		for _, p := range b.Parts {
			inside := name + ident.ASCII(p.Name) + "."
			if p.List != "" && b.LevelsOf(p.List) != nil && strings.HasSuffix(p.Name, fmt.Sprintf(".%d", level)) && p.Block.Unit.Kind == notation.RuleUnit {
				var ds diag.List
				c := closedLevel{name: inside, prefix: inside, rule: p.Block.Name}
				if s.bare() {
					c.prefix = strings.TrimPrefix(inside, "block.")
				}
				c.allowed, c.first = params(irbuild.Frozen(p.Block, &ds)), params(irbuild.Start(p.Block, &ds))
				out = append(out, c)
			}
			visit(p.Block, inside)
		}
	}
	visit(blockOf(s.t, s.x.formula()), "")
	return out
}

func params(f *ir.Func) (names []string) {
	for _, v := range f.Params {
		names = append(names, v.Name)
	}
	return names
}

// gradients holds those of a closed level in a call in which a context begins or none
// does, and reports whether there is any.
func (c closedLevel) gradients(t *testing.T, s *subject[float64], got result[float64], begins bool) bool {
	t.Helper()
	any := false
	for name, g := range got.grads {
		own, ok := strings.CutPrefix(name, c.prefix)
		if !ok || !nonzero(g) {
			continue
		}
		any = any || lives(g)
		if !slices.Contains(c.allowed, own) && (!begins || !slices.Contains(c.first, own)) {
			t.Errorf("%v: a gradient reaches %s, which the frozen read does not need", s.x, name)
		}
		if slices.Contains(writes, own) && readersOf[c.rule] == "" {
			t.Errorf("%v: a gradient reaches %s, which only a write needs", s.x, name)
		}
	}
	return any
}

// heard reports whether a closed level has gradients when its model is louder, or softer.
func (c closedLevel) heard(t *testing.T, x scenario) bool {
	t.Helper()
	return slices.ContainsFunc(gains, func(gain float64) bool {
		s := newSubject[float64](t, x, small(x), 4)
		s.louder(gain)
		s.grow(mixed)
		return c.gradients(t, s, s.backward(), true)
	})
}

// states holds those of a closed level: as they were, or in the sequence whose context
// begins what the oracle says they begin with.
func (c closedLevel) states(t *testing.T, s *subject[float64], got result[float64], want tensors) {
	t.Helper()
	for name, data := range got.memory {
		if !strings.HasPrefix(name, c.name) || strings.HasSuffix(name, ".tail") {
			continue
		}
		what := fmt.Sprintf("%v: %s after a frozen call", s.x, name)
		n := len(data) / s.batch
		bits(t, what, data[n:], want[name].Data[n:])
		nearBy(t, what, data[:n], want[name].Data[:n], 1, oracleTol) // a start is computed
	}
}

// tails compares what the first block looks back at with what a call leaves in which
// the level is active too. After the first block everything sees another input.
func tails(t *testing.T, s *subject[float64], level int, got result[float64]) {
	t.Helper()
	was := s.x.mask
	s.open(was | 1<<level)
	active := s.forward()
	s.open(was)
	for name, tail := range active.memory {
		in := strings.HasPrefix(name, s.mem.Parts[0].Name+".") && strings.Contains(name, fmt.Sprintf(".%d.", level))
		if in && strings.HasSuffix(name, ".tail") {
			bits(t, fmt.Sprintf("%v: %s after a frozen call and after an active one", s.x, name), got.memory[name], tail)
		}
	}
	for name, pos := range active.pos {
		if !slices.Equal(pos, got.pos[name]) {
			t.Errorf("%v: %s is %v after a frozen call, %v after an active one", s.x, name, got.pos[name], pos)
		}
	}
}
