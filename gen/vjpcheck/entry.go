package vjpcheck

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/inspect"
	"github.com/nl-hecate/hecate/gen/vjpcheck/pseudo"
)

// Division of an entry of a table into definitions and printed adjoints.

// A definition is `name[letters] = body`, or with params a function.
type definition struct {
	name      string
	letters   []string
	params    []string
	body      *pseudo.Node
	entryOnly bool // it holds in its entry only
}

// A line is one printed adjoint, d_A[i] = …, divided and parsed.
type line struct {
	label string         // d_A, as printed without its index
	of    string         // A
	at    []*pseudo.Node // letters, or a range
	rhs   *pseudo.Node
	each  string       // `for each t where …`: the letter
	where *pseudo.Node // and the condition
	note  bool         // it is part of a remark
	err   error        // what is open about it
}

// An entry is one operation of a table, divided into statements.
type entry struct {
	name   string
	shapes map[string][]string // declared shapes, A: m×k
	scalar bool                // the result is a number
	result string              // the name that the last statement assigns
	out    *definition
	checks []*pseudo.Node         // further forms of the result: out = a = b
	steps  map[string]*definition // intermediate values of the forward
	lets   map[string]*definition // further names that only adjoints use
	funcs  map[string]*definition // functions that the entry defines
	lines  []*line
	err    error // what is open about the forward
}

// read divides an entry; a part that cannot be read becomes an error of the entry or of
// the line.
func read(v inspect.VJPEntry) *entry {
	e := &entry{name: v.Name, shapes: map[string][]string{}, steps: map[string]*definition{},
		lets: map[string]*definition{}, funcs: map[string]*definition{}}
	e.readShapes(v.Shapes)
	for _, text := range strings.Split(v.ForwardText, "\n") {
		e.forwardLine(strings.TrimSpace(text))
	}
	if e.out == nil && e.err == nil {
		e.err = pseudo.Gapf("the forward assigns nothing")
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
	for _, piece := range splitOutside(text, ',') {
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
	trailingRemark = regexp.MustCompile(`\s{2,}\([^()]*\)$`)
	meaning        = regexp.MustCompile(`^where\s+(\pL[\pL\pN_]*)\s+is\b.*\bclamped to\s+(.*)$`)
	forEach        = regexp.MustCompile(`^(.*\S)\s+for each (\pL[\pL\pN_]*) where (.*)$`)
	zeros          = regexp.MustCompile(`^zeros\s*;\s*d_(\pL[\pL\pN_]*)\[(.*)\]\s*=\s*(.*)$`)
	remark         = regexp.MustCompile(`:\s*(d_\pL[\pL\pN_]*(?:\[[^\]]*\])?)\s*=\s*(\S.*)$`)
)

// resultName is the name of the result in the tables. A forward may also assign to its own
// input.
const resultName = "out"

// forwardLine reads one line of the forward: statements between commas, or the local
// meaning of a function. A line without = is prose and is skipped.
func (e *entry) forwardLine(text string) {
	if m := meaning.FindStringSubmatch(text); m != nil {
		e.localMeaning(m[1], m[2])
		return
	}
	text = trailingRemark.ReplaceAllString(text, "")
	pieces := splitOutside(text, ',')
	for _, piece := range pieces {
		sides := splitOutside(piece, '=')
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
			n, err := pseudo.Parse(more)
			if err != nil {
				e.fail(err)
				return
			}
			e.checks = append(e.checks, n)
		}
		e.functionFromChain(d.body)
	}
}

func (e *entry) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// functionFromChain reads `out = f(x) = …` as the definition of f.
func (e *entry) functionFromChain(first *pseudo.Node) {
	if len(e.checks) == 0 || first.Kind != pseudo.Call {
		return
	}
	if params, ok := plainNames(first.Kids); ok {
		e.funcs[first.Text] = &definition{name: first.Text, params: params, body: e.checks[0]}
	}
}

func plainNames(kids []*pseudo.Node) ([]string, bool) {
	var out []string
	for _, k := range kids {
		if k.Kind != pseudo.Name {
			return nil, false
		}
		out = append(out, k.Text)
	}
	return out, true
}

// localMeaning reads `where log is …, clamped to log(max(x, 1e-8))`: inside, the function
// has the meaning that it has outside the entry.
func (e *entry) localMeaning(fn, text string) {
	body, err := pseudo.Parse(text)
	if err != nil {
		e.fail(err)
		return
	}
	var params []string
	body = body.Rewrite(func(n *pseudo.Node) *pseudo.Node {
		if n.Kind == pseudo.Call && n.Text == fn {
			m := *n
			m.Text = outsideMeaning + fn
			return &m
		}
		return nil
	})
	body.Walk(func(n *pseudo.Node) {
		if n.Kind == pseudo.Name {
			params = append(params, n.Text)
		}
	})
	if len(params) == 1 {
		e.funcs[fn] = &definition{name: fn, params: params, body: body, entryOnly: true}
	}
}

// outsideMeaning marks a function that has the meaning that it has outside the entry.
const outsideMeaning = "="

// definitionOf reads name = …, name[i] = … or f(x) = ….
func definitionOf(lhs, rhs string) (*definition, error) {
	target, err := pseudo.Parse(lhs)
	if err != nil {
		return nil, err
	}
	body, err := pseudo.Parse(rhs)
	if err != nil {
		return nil, err
	}
	d := &definition{body: body}
	switch target.Kind {
	case pseudo.Name:
		d.name = target.Text
		return d, nil
	case pseudo.Index:
		letters, ok := plainNames(target.Kids[1:])
		if ok && target.Kids[0].Kind == pseudo.Name {
			d.name, d.letters = target.Kids[0].Text, letters
			return d, nil
		}
	case pseudo.Call:
		if params, ok := plainNames(target.Kids); ok {
			d.name, d.params = target.Text, params
			return d, nil
		}
	}
	return nil, pseudo.Gapf("it assigns to something that is no name")
}

// remark reads the definitions of a comment: Let s = …, where S[i] = …, σ(x) = ….
func (e *entry) remark(text string) {
	body, let := strings.CutPrefix(text, "Let ")
	if !let {
		body, let = strings.CutPrefix(text, "where ")
	}
	for _, piece := range splitOutside(body, ',') {
		sides := splitOutside(piece, '=')
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

// closed reports whether a function's body reads only its parameters.
func (d *definition) closed() bool {
	return !d.body.Contains(func(n *pseudo.Node) bool {
		if n.Kind != pseudo.Name {
			return false
		}
		for _, p := range d.params {
			if p == n.Text {
				return false
			}
		}
		return true
	})
}

// remarkLine reads a second form of an adjoint in a comment.
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
	target, err := pseudo.Parse(lhs)
	if err != nil {
		l.err = err
		return l
	}
	if target.Kind == pseudo.Index {
		l.at = target.Kids[1:]
	}
	rhs = trailingRemark.ReplaceAllString(rhs, "")
	if m := forEach.FindStringSubmatch(rhs); m != nil {
		rhs, l.each = m[1], m[2]
		if l.where, l.err = pseudo.Parse(m[3]); l.err != nil {
			return l
		}
	}
	if m := zeros.FindStringSubmatch(rhs); m != nil && m[1] == l.of && l.at == nil {
		at, err := pseudo.Parse("x[" + m[2] + "]")
		if err != nil {
			l.err = err
			return l
		}
		l.at, rhs = at.Kids[1:], m[3]
	}
	l.rhs, l.err = pseudo.Parse(rhs)
	return l
}

// makeStep makes a name that only a comment defines an intermediate value of the forward,
// by replacing its expression there.
func (e *entry) makeStep(text string) bool {
	d := e.lets[text]
	if d == nil || e.out == nil {
		return e.steps[text] != nil
	}
	want, found := d.body.String(), false
	var at []*pseudo.Node
	for _, l := range d.letters {
		at = append(at, pseudo.NameOf(l))
	}
	in := func(n *pseudo.Node) *pseudo.Node {
		return n.Rewrite(func(m *pseudo.Node) *pseudo.Node {
			if m.String() == want {
				found = true
				return pseudo.IndexOf(pseudo.NameOf(text), at...)
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

// splitOutside splits a text at a separator outside brackets. The separator = is a single
// one, not part of == or <=.
func splitOutside(text string, sep rune) []string {
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
