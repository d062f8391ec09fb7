package consumeonce

import (
	"go/ast"
	"maps"
)

// captures is the effect of a function literal on captured variables.
type captures struct {
	used     map[place]bool // looked at or moved, and not assigned before
	assigned map[place]bool
	moved    map[place]status // dead at some end of it, and nowhere assigned
}

// capture records that a literal uses a place of an enclosing function.
func (w *walker) capture(s state, p place) {
	if w.ret == nil || w.ret.assigned[p] {
		return
	}
	if _, own := s[p]; !own {
		w.ret.used[p] = true
	}
}

// exit records the places that are dead at an end of a literal.
func (w *walker) exit(s state) {
	if w.ret == nil {
		return
	}
	for p, st := range s {
		outside := p.root.Pos() < w.root.Pos() || p.root.Pos() >= w.root.End()
		if outside && st.dead && !w.ret.assigned[p] {
			w.ret.moved[p] = st
		}
	}
}

// literal analyses a function literal, once.
func (c *checker) literal(lit *ast.FuncLit) *captures {
	if e := c.lits[lit]; e != nil {
		return e
	}
	e := &captures{used: map[place]bool{}, assigned: map[place]bool{}, moved: map[place]status{}}
	c.lits[lit] = e
	w := &walker{checker: c, root: lit, ret: e}
	w.solve(c.cfgs.FuncLit(lit))
	return e
}

// closure applies the effect of a literal to the enclosing function.
func (w *walker) closure(s state, lit *ast.FuncLit, when when) {
	e := w.literal(lit)
	if when == later {
		return // at the end, after all that is followed here
	}
	for p := range e.used {
		if bad, blocked := s.blocking(p); blocked && w.reporting {
			w.report(lit.Type, "the function uses %s, which was moved in line %d", p.root.Name()+shown(p.path), w.pass.Fset.Position(bad.at).Line)
		}
	}
	for p, st := range e.moved {
		if when == again && w.reporting {
			w.report(lit.Type, "the function moves %s in line %d and may run more than once; assign the result to it, or pass it as an argument",
				p.root.Name()+shown(p.path), w.pass.Fset.Position(st.at).Line)
		}
		s.assign(p)
		s[p] = status{dead: true, at: lit.Pos()}
	}
	for p := range e.assigned {
		s.assign(p)
		if p.path == "" {
			s.changed(p.root)
		}
	}
	if w.ret != nil { // the effect of a nested literal is also that of the outer one
		for p := range e.used {
			w.capture(s, p)
		}
		maps.Copy(w.ret.assigned, e.assigned)
	}
}

// shown is a path without its placeholders for variables.
func shown(path string) string {
	out := ""
	for i := 0; i < len(path); i++ {
		if path[i] == '[' && i+2 < len(path) && path[i+1:i+3] == "0x" {
			for path[i] != ']' {
				i++
			}
			out += "[…]"
			continue
		}
		out += string(path[i])
	}
	return out
}
