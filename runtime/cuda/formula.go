package cuda

import (
	"fmt"
	"math"
	"strconv"
)

// Numbers of the manifest are formulas in the sizes of a kernel, such as 4*L*T*d_k or
// (n*n+n)/2: sums and differences of products and quotients of whole numbers, names and
// brackets. Quotients are rounded towards zero, as in C.

// A formula is a parsed one.
type formula struct {
	op   byte // '+', '-', '*', '/', or 'n' for a number and 's' for a size
	a, b *formula
	n    int
	size string
}

// parseFormula reads a formula.
func parseFormula(text string) (*formula, error) {
	p := &formulaParser{text: text}
	f := p.sum()
	if p.err == nil && p.at < len(text) {
		p.err = fmt.Errorf("cuda: formula %q is not understood from %q on", text, text[p.at:])
	}
	return f, p.err
}

type formulaParser struct {
	text string
	at   int
	err  error
}

func (p *formulaParser) next() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *formulaParser) sum() *formula {
	var f *formula
	if p.next() == '-' {
		f = &formula{op: 'n'}
	} else {
		f = p.product()
	}
	for p.err == nil && (p.next() == '+' || p.next() == '-') {
		op := p.next()
		p.at++
		f = &formula{op: op, a: f, b: p.product()}
	}
	return f
}

func (p *formulaParser) product() *formula {
	f := p.atom()
	for p.err == nil && (p.next() == '*' || p.next() == '/') {
		op := p.next()
		p.at++
		f = &formula{op: op, a: f, b: p.atom()}
	}
	return f
}

func (p *formulaParser) atom() *formula {
	from := p.at
	c := p.next()
	switch {
	case c == '(':
		p.at++
		f := p.sum()
		if p.next() == ')' {
			p.at++
			return f
		}
	case '0' <= c && c <= '9':
		for c := p.next(); '0' <= c && c <= '9'; c = p.next() {
			p.at++
		}
		if n, err := strconv.Atoi(p.text[from:p.at]); err == nil {
			return &formula{op: 'n', n: n}
		}
	case letter(c):
		for c := p.next(); letter(c) || '0' <= c && c <= '9'; c = p.next() {
			p.at++
		}
		return &formula{op: 's', size: p.text[from:p.at]}
	}
	if p.err == nil {
		p.err = fmt.Errorf("cuda: formula %q is not understood from %q on", p.text, p.text[from:])
	}
	return &formula{op: 'n'}
}

func letter(c byte) bool { return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// eval is the value at some sizes. A size that is missing, a quotient by zero and a number that
// is too large are errors.
func (f *formula) eval(sizes map[string]int) (int, error) {
	switch f.op {
	case 'n':
		return f.n, nil
	case 's':
		n, ok := sizes[f.size]
		if !ok {
			return 0, fmt.Errorf("cuda: size %s is not given", f.size)
		}
		return n, nil
	}
	a, err := f.a.eval(sizes)
	if err != nil {
		return 0, err
	}
	b, err := f.b.eval(sizes)
	if err != nil {
		return 0, err
	}
	switch f.op {
	case '+':
		return a + b, nil
	case '-':
		return a - b, nil
	case '*':
		if a != 0 && b != 0 && (abs(a) > math.MaxInt64/abs(b)) {
			return 0, fmt.Errorf("cuda: %d·%d is too large", a, b)
		}
		return a * b, nil
	}
	if b == 0 {
		return 0, fmt.Errorf("cuda: a size is divided by zero")
	}
	return a / b, nil
}

func abs(n int) int { return max(n, -n) }
