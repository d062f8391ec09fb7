package vjpcheck

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// The shapes of the inputs of an entry, as far as the entry declares or shows them.

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

// A shapeGuess is the number of axes of names without a declared shape: plain for names
// that are never indexed, and more, beyond the indices, for the others.
type shapeGuess struct{ plain, more int }

// shapeGuesses are tried in this order; all that fit are compared.
var shapeGuesses = []shapeGuess{{1, 0}, {1, 1}, {2, 0}}

// A table has the definitions that the entries of a page share.
type table struct {
	entries   []*entry
	funcs     map[string]*definition // that some entry defines
	functions *functions             // of the pages of the tape operations
}

// inputs are the types of the inputs of the forward, under a guess of shapes. An input
// whose adjoint no line defines is a constant; without an index it is a number.
func (e *entry) inputs(r shapeGuess) map[string]typ {
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
		case !e.hasAdjoint(n):
		case indexed && r.more > 0:
			base = append(slices.Clone(base), "d")
		case !indexed:
			base = []string{"m", "n"}[2-r.plain:]
		}
		out[n] = typ{real, base}
	}
	return out
}

// hasAdjoint reports whether a line defines the adjoint of a name.
func (e *entry) hasAdjoint(text string) bool {
	return slices.ContainsFunc(e.lines, func(l *line) bool { return l.of == text && !l.note })
}

// bodies are all expressions of the forward.
func (e *entry) bodies() []*pseudo.Node {
	out := []*pseudo.Node{e.out.body}
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
		b.Walk(func(n *pseudo.Node) {
			if n.Kind != pseudo.Name {
				return
			}
			text := e.base(n.Text)
			if letters[text] || e.steps[text] != nil || slices.Contains(out, text) {
				return
			}
			out = append(out, text)
		})
	}
	return out
}

// positives are the inputs that are arguments of a function without values below zero,
// such as a logarithm.
func (t *table) positives(e *entry) map[string]bool {
	out := map[string]bool{}
	for _, b := range e.bodies() {
		b.Walk(func(n *pseudo.Node) {
			if n.Kind != pseudo.Call || len(n.Kids) != 1 {
				return
			}
			x := n.Kids[0]
			if x.Kind == pseudo.Index {
				x = x.Kids[0]
			}
			if f := t.functions.find(n.Text, 1); x.Kind == pseudo.Name && f != nil && f.positive {
				out[x.Text] = true
			}
		})
	}
	return out
}

// letterNames are the names of indices: those that a sum or a left-hand side binds, and
// those that are an index by themselves.
func (e *entry) letterNames() map[string]bool {
	out := map[string]bool{}
	for _, l := range e.lines {
		for _, k := range l.at {
			if k.Kind == pseudo.Name {
				out[k.Text] = true
			}
		}
		if l.each != "" {
			out[l.each] = true
		}
		if l.rhs != nil {
			positions(l.rhs, out)
		}
	}
	if e.out != nil {
		for _, n := range e.out.letters {
			out[n] = true
		}
		for _, b := range e.bodies() {
			positions(b, out)
		}
	}
	return out
}

// positions adds the letters that an expression binds or reads at.
func positions(n *pseudo.Node, out map[string]bool) {
	n.Walk(func(n *pseudo.Node) {
		for _, l := range n.Letters {
			out[l] = true
		}
		if n.Kind != pseudo.Index {
			return
		}
		for _, k := range n.Kids[1:] {
			if k.Kind == pseudo.Name && !strings.Contains(k.Text, "_") {
				out[k.Text] = true
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
		b.Walk(func(n *pseudo.Node) {
			if n.Kind != pseudo.Index {
				return
			}
			for _, k := range n.Kids[1:] {
				switch {
				case k.Kind == pseudo.Index && k.Kids[0].Kind == pseudo.Name:
					out[k.Kids[0].Text] = true
				case k.Kind == pseudo.Name && e.base(k.Text) != k.Text:
					out[e.base(k.Text)] = true
				case k.Kind == pseudo.Span:
					k.Walk(func(m *pseudo.Node) {
						if m.Kind == pseudo.Name {
							out[m.Text] = true
						}
					})
				}
			}
		})
	}
	return out
}

// letters are the axes of a name by its indices: in its adjoint line, or in the forward.
// An index that is no letter, or a range, makes an axis of the name's own.
func (e *entry) letters(text string) (axes []string, indexed bool) {
	own := func(at []*pseudo.Node) []string {
		var out []string
		for _, k := range at {
			if k.Kind == pseudo.Name && e.letterNames()[k.Text] {
				out = append(out, k.Text)
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
		b.Walk(func(n *pseudo.Node) {
			switch {
			case indexed:
			case n.Kind == pseudo.Index && n.Kids[0].Kind == pseudo.Name && n.Kids[0].Text == text:
				axes, indexed = own(n.Kids[1:]), true
			case n.Kind == pseudo.Name:
				if base, letter := e.suffix(n.Text); letter != "" && base == text {
					axes, indexed = []string{letter}, true
				}
			}
		})
	}
	return axes, indexed
}
