package vjpcheck

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/inspect"
)

// A definition is `name[letters] = body`, or with params a function.
type definition struct {
	name    string
	letters []string
	params  []string
	body    *node
	here    bool // it holds in its entry only
}

// A line is one printed adjoint, d_A[i] = …, divided and parsed.
type line struct {
	label string  // d_A, as printed without its index
	of    string  // A
	at    []*node // letters, or a range
	rhs   *node
	each  string // `for each t where …`: the letter
	where *node  // and the condition
	note  bool   // it stands in a remark
	err   error  // what is open about it
}

// An entry is one operation of a table, divided into statements.
type entry struct {
	name   string
	shapes map[string][]string // what the entry says in words: A: m×k
	scalar bool                // the result is a number
	result string              // the name that the last statement assigns
	out    *definition
	checks []*node                // further forms of the result: out = a = b
	steps  map[string]*definition // intermediate values of the forward
	lets   map[string]*definition // further names that only adjoints use
	funcs  map[string]*definition // functions that the entry defines
	lines  []*line
	err    error // what is open about the forward
}

// read divides an entry; what cannot be read is an error in the entry or line.
func read(v inspect.VJPEntry) *entry {
	e := &entry{name: v.Name, shapes: map[string][]string{}, steps: map[string]*definition{},
		lets: map[string]*definition{}, funcs: map[string]*definition{}}
	e.readShapes(v.Shapes)
	for _, text := range strings.Split(v.ForwardText, "\n") {
		e.forwardLine(strings.TrimSpace(text))
	}
	if e.out == nil && e.err == nil {
		e.err = open("the forward assigns nothing")
	}
	for _, n := range v.Notes {
		e.remark(strings.TrimSpace(n.Text))
	}
	for _, a := range v.Adjoints {
		e.lines = append(e.lines, readLine(a.LHS, a.RHS))
	}
	for _, n := range v.Notes {
		e.remarkLine(n.Text)
	}
	return e
}

// readShapes reads `A: m×k, B: k×n` or a word.
func (e *entry) readShapes(text string) {
	for _, piece := range cutTop(text, ',') {
		name, shape, ok := strings.Cut(piece, ":")
		if !ok {
			e.scalar = e.scalar || strings.TrimSpace(piece) == "scalar"
			continue
		}
		var axes []string
		for _, a := range strings.FieldsFunc(shape, func(r rune) bool { return r == '×' || r == ' ' }) {
			if a != "scalar" {
				axes = append(axes, a)
			}
		}
		e.shapes[strings.TrimSpace(name)] = axes
	}
}

var (
	aside   = regexp.MustCompile(`\s{2,}\([^()]*\)$`)
	meaning = regexp.MustCompile(`^where\s+(\pL[\pL\pN_]*)\s+is\b.*\bclamped to\s+(.*)$`)
	forEach = regexp.MustCompile(`^(.*\S)\s+for each (\pL[\pL\pN_]*) where (.*)$`)
	zeros   = regexp.MustCompile(`^zeros\s*;\s*d_(\pL[\pL\pN_]*)\[(.*)\]\s*=\s*(.*)$`)
	remark  = regexp.MustCompile(`:\s*(d_\pL[\pL\pN_]*(?:\[[^\]]*\])?)\s*=\s*(\S.*)$`)
)

// resultName is what the tables call the result; in place of it a forward may
// assign to its own input.
const resultName = "out"

// forwardLine reads one line of the forward: statements between commas, or
// what a function means here. A line without = is prose that sets the scene.
func (e *entry) forwardLine(text string) {
	if m := meaning.FindStringSubmatch(text); m != nil {
		e.meaning(m[1], m[2])
		return
	}
	text = aside.ReplaceAllString(text, "")
	pieces := cutTop(text, ',')
	for _, piece := range pieces {
		sides := cutTop(piece, '=')
		if len(sides) < 2 {
			continue
		}
		d, err := definitionOf(sides[0], sides[1])
		if err != nil {
			e.fail(err)
			return
		}
		if e.out != nil && e.out.name == resultName {
			e.steps[d.name] = d
			continue
		}
		if e.out != nil {
			e.steps[e.out.name] = e.out
		}
		e.out, e.result, e.checks = d, d.name, nil
		for _, more := range sides[2:] {
			n, err := parseExpr(more)
			if err != nil {
				e.fail(err)
				return
			}
			e.checks = append(e.checks, n)
		}
		e.chain(d.body)
	}
}

func (e *entry) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// chain takes `out = f(x) = …` as the definition of f.
func (e *entry) chain(first *node) {
	if len(e.checks) == 0 || first.kind != call {
		return
	}
	if params, ok := plainNames(first.kids); ok {
		e.funcs[first.text] = &definition{name: first.text, params: params, body: e.checks[0]}
	}
}

func plainNames(kids []*node) ([]string, bool) {
	var out []string
	for _, k := range kids {
		if k.kind != name {
			return nil, false
		}
		out = append(out, k.text)
	}
	return out, true
}

// meaning reads `where log is …, clamped to log(max(x, 1e-8))`: inside, the
// function has its usual meaning.
func (e *entry) meaning(fn, text string) {
	body, err := parseExpr(text)
	if err != nil {
		e.fail(err)
		return
	}
	var params []string
	body = body.rewrite(func(n *node) *node {
		if n.kind == call && n.text == fn {
			m := *n
			m.text = usual + fn
			return &m
		}
		return nil
	})
	body.walk(func(n *node) {
		if n.kind == name {
			params = append(params, n.text)
		}
	})
	if len(params) == 1 {
		e.funcs[fn] = &definition{name: fn, params: params, body: body, here: true}
	}
}

// usual marks a function that has the meaning it has outside the entry.
const usual = "="

// definitionOf reads name = …, name[i] = … or f(x) = ….
func definitionOf(lhs, rhs string) (*definition, error) {
	target, err := parseExpr(lhs)
	if err != nil {
		return nil, err
	}
	body, err := parseExpr(rhs)
	if err != nil {
		return nil, err
	}
	d := &definition{body: body}
	switch target.kind {
	case name:
		d.name = target.text
		return d, nil
	case index:
		letters, ok := plainNames(target.kids[1:])
		if ok && target.kids[0].kind == name {
			d.name, d.letters = target.kids[0].text, letters
			return d, nil
		}
	case call:
		if params, ok := plainNames(target.kids); ok {
			d.name, d.params = target.text, params
			return d, nil
		}
	}
	return nil, open("it assigns to something that is no name")
}

// remark takes what a comment defines: Let s = …, where S[i] = …, σ(x) = ….
func (e *entry) remark(text string) {
	body, let := strings.CutPrefix(text, "Let ")
	if !let {
		body, let = strings.CutPrefix(text, "where ")
	}
	for _, piece := range cutTop(body, ',') {
		sides := cutTop(piece, '=')
		if len(sides) != 2 {
			continue
		}
		d, err := definitionOf(sides[0], sides[1])
		switch {
		case err != nil || strings.HasPrefix(d.name, "d_"):
		case d.params != nil && d.closed() && e.funcs[d.name] == nil:
			e.funcs[d.name] = d
		case d.params == nil && let && e.steps[d.name] == nil && d.name != e.result:
			e.lets[d.name] = d
		}
	}
}

// closed reports whether a function's body mentions only its parameters.
func (d *definition) closed() bool {
	return !d.body.contains(func(n *node) bool {
		if n.kind != name {
			return false
		}
		for _, p := range d.params {
			if p == n.text {
				return false
			}
		}
		return true
	})
}

// remarkLine takes a second form of an adjoint that a comment gives.
func (e *entry) remarkLine(text string) {
	if m := remark.FindStringSubmatch(text); m != nil {
		if l := readLine(m[1], m[2]); l.err == nil {
			l.note = true
			e.lines = append(e.lines, l)
		}
	}
}

// readLine divides a printed adjoint.
func readLine(lhs, rhs string) *line {
	base, _, _ := strings.Cut(lhs, "[")
	l := &line{label: base, of: strings.TrimPrefix(base, "d_")}
	target, err := parseExpr(lhs)
	if err != nil {
		l.err = err
		return l
	}
	if target.kind == index {
		l.at = target.kids[1:]
	}
	rhs = aside.ReplaceAllString(rhs, "")
	if m := forEach.FindStringSubmatch(rhs); m != nil {
		rhs, l.each = m[1], m[2]
		if l.where, l.err = parseExpr(m[3]); l.err != nil {
			return l
		}
	}
	if m := zeros.FindStringSubmatch(rhs); m != nil && m[1] == l.of && l.at == nil {
		at, err := parseExpr("x[" + m[2] + "]")
		if err != nil {
			l.err = err
			return l
		}
		l.at, rhs = at.kids[1:], m[3]
	}
	l.rhs, l.err = parseExpr(rhs)
	return l
}

// expose makes an intermediate value of a name that only a comment defines, by
// finding its expression in the forward.
func (e *entry) expose(text string) bool {
	d := e.lets[text]
	if d == nil || e.out == nil {
		return e.steps[text] != nil
	}
	want, found := d.body.String(), false
	var at []*node
	for _, l := range d.letters {
		at = append(at, named(l))
	}
	in := func(n *node) *node {
		return n.rewrite(func(m *node) *node {
			if m.String() == want {
				found = true
				return indexed(named(text), at...)
			}
			return nil
		})
	}
	e.out.body = in(e.out.body)
	for _, s := range e.steps {
		s.body = in(s.body)
	}
	if found {
		e.steps[text] = d
		delete(e.lets, text)
	}
	return found
}

// cutTop divides a text at a separator outside brackets. As a separator, = is
// a lone one.
func cutTop(text string, sep rune) []string {
	var out []string
	depth, from := 0, 0
	runes := []rune(text)
	for i, r := range runes {
		switch {
		case strings.ContainsRune("([{", r):
			depth++
		case strings.ContainsRune(")]}", r):
			depth--
		case r != sep || depth != 0:
		case sep == '=' && (i+1 < len(runes) && runes[i+1] == '=' || i > 0 && strings.ContainsRune("=<>!", runes[i-1])):
		default:
			out = append(out, strings.TrimSpace(string(runes[from:i])))
			from = i + 1
		}
	}
	return append(out, strings.TrimSpace(string(runes[from:])))
}
