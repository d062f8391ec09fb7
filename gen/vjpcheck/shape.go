package vjpcheck

import (
	"slices"
	"strings"
)

// An elem is the kind of a value's entries; the zero value is invalid.
type elem int

const (
	_ elem = iota
	real
	integer
	boolean
)

// A typ is the type of a value: its axes are names of the entry's own.
type typ struct {
	elem elem
	axes []string
}

// A reading says how many axes the names have that the entry gives no shape:
// plain for those it never indexes, more for those it does, beyond the indices.
type reading struct{ plain, more int }

// readings are tried in this order; all that fit are compared.
var readings = []reading{{1, 0}, {1, 1}, {2, 0}}

// A table knows the words that the entries of a page share.
type table struct {
	entries []*entry
	funcs   map[string]*definition // that some entry defines
	words   *words                 // of the pages of the tape operations
}

// shapes gives every input of the forward a type, under a reading. An input
// that no line differentiates by is a constant, and without an index a number.
func (e *entry) inputs(r reading) map[string]typ {
	out := map[string]typ{}
	ints := e.integers()
	for _, n := range e.inputNames() {
		if shape, ok := e.shapes[n]; ok {
			out[n] = typ{real, shape}
			continue
		}
		base, indexed := e.letters(n)
		if kind := ints[n]; kind {
			out[n] = typ{integer, base}
			continue
		}
		switch {
		case !e.tracked(n):
		case indexed && r.more > 0:
			base = append(slices.Clone(base), "d")
		case !indexed:
			base = []string{"m", "n"}[2-r.plain:]
		}
		out[n] = typ{real, base}
	}
	return out
}

// tracked reports whether a line is about the adjoint of a name.
func (e *entry) tracked(text string) bool {
	return slices.ContainsFunc(e.lines, func(l *line) bool { return l.of == text && !l.note })
}

// bodies are all expressions of the forward.
func (e *entry) bodies() []*node {
	out := []*node{e.out.body}
	for _, n := range slices.Sorted(keys(e.steps)) {
		out = append(out, e.steps[n].body)
	}
	return append(out, e.checks...)
}

// inputNames are the names that the forward reads and nothing defines, in the
// order in which they occur.
func (e *entry) inputNames() []string {
	letters := e.letterNames()
	var out []string
	for _, b := range e.bodies() {
		b.walk(func(n *node) {
			if n.kind != name {
				return
			}
			text := e.base(n.text)
			if letters[text] || e.steps[text] != nil || slices.Contains(out, text) {
				return
			}
			out = append(out, text)
		})
	}
	return out
}

// positives are the inputs that a function reads which has no value left of
// zero, such as the argument of a logarithm.
func (t *table) positives(e *entry) map[string]bool {
	out := map[string]bool{}
	for _, b := range e.bodies() {
		b.walk(func(n *node) {
			if n.kind != call || len(n.kids) != 1 {
				return
			}
			x := n.kids[0]
			if x.kind == index {
				x = x.kids[0]
			}
			if f := t.words.find(n.text, 1); x.kind == name && f != nil && f.right {
				out[x.text] = true
			}
		})
	}
	return out
}

// letterNames are the names that stand for positions: those that a sum or a
// left side binds, and those that stand alone in an index.
func (e *entry) letterNames() map[string]bool {
	out := map[string]bool{}
	for _, l := range e.lines {
		for _, k := range l.at {
			if k.kind == name {
				out[k.text] = true
			}
		}
		if l.each != "" {
			out[l.each] = true
		}
		if l.rhs != nil {
			l.rhs.positions(out)
		}
	}
	if e.out != nil {
		for _, n := range e.out.letters {
			out[n] = true
		}
		for _, b := range e.bodies() {
			b.positions(out)
		}
	}
	return out
}

// positions adds the letters that an expression binds or reads at.
func (n *node) positions(out map[string]bool) {
	n.walk(func(n *node) {
		for _, l := range n.letters {
			out[l] = true
		}
		if n.kind != index {
			return
		}
		for _, k := range n.kids[1:] {
			if k.kind == name && !strings.Contains(k.text, "_") {
				out[k.text] = true
			}
		}
	})
}

// base divides target_t into the name and its index.
func (e *entry) base(text string) string {
	base, _ := e.suffix(text)
	return base
}

func (e *entry) suffix(text string) (base, letter string) {
	if i := strings.LastIndex(text, "_"); i > 1 && e.letterNames()[text[i+1:]] && e.lets[text] == nil && e.steps[text] == nil {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// integers are the names that are read as positions: indices[t] and target_t
// inside an index, and the start of a range.
func (e *entry) integers() map[string]bool {
	out := map[string]bool{}
	for _, b := range e.bodies() {
		b.walk(func(n *node) {
			if n.kind != index {
				return
			}
			for _, k := range n.kids[1:] {
				switch {
				case k.kind == index && k.kids[0].kind == name:
					out[k.kids[0].text] = true
				case k.kind == name && e.base(k.text) != k.text:
					out[e.base(k.text)] = true
				case k.kind == span:
					k.walk(func(m *node) {
						if m.kind == name {
							out[m.text] = true
						}
					})
				}
			}
		})
	}
	return out
}

// letters are the axes that the indices of a name show: those of its adjoint
// line, or of its first index in the forward. An index that is no letter, and
// a range, make an axis of the name's own.
func (e *entry) letters(text string) (axes []string, indexed bool) {
	own := func(at []*node) []string {
		var out []string
		for _, k := range at {
			if k.kind == name && e.letterNames()[k.text] {
				out = append(out, k.text)
			} else {
				out = append(out, text)
			}
		}
		return out
	}
	for _, l := range e.lines {
		if l.of == text && l.at != nil {
			return own(l.at), true
		}
	}
	for _, b := range e.bodies() {
		b.walk(func(n *node) {
			switch {
			case indexed:
			case n.kind == index && n.kids[0].kind == name && n.kids[0].text == text:
				axes, indexed = own(n.kids[1:]), true
			case n.kind == name:
				if base, letter := e.suffix(n.text); letter != "" && base == text {
					axes, indexed = []string{letter}, true
				}
			}
		})
	}
	return axes, indexed
}
