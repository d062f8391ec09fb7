package ir

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/shape"
)

// The text form. One instruction is one line:
//
//	%e [d_v] = prod i:d_v j:d_k : -1 M[i, j] k[j]   ; delta.write
//
// that is: output and its axes, primitive, loops, and the arguments at their
// subscripts. An output that is not written at its first loops in order says
// where (`at [ids[i], j]`), guards follow `where`, loops that are reduced or
// normalised follow `over`, and the stable id of the equation comes last.
// Names that would be misread are quoted. Parse reads all of it back; only
// source spans are lost.

// String prints f in the text form.
func (f *Func) String() string {
	p := &printer{axes: map[*Axis]string{}, axisNames: map[string]bool{}, avoid: map[string]bool{}, declared: map[*Axis]bool{}, names: map[*Value]string{}, taken: map[string]bool{}}
	p.function("", f)
	return p.b.String()
}

type printer struct {
	b         strings.Builder
	axes      map[*Axis]string
	axisNames map[string]bool
	declared  map[*Axis]bool
	avoid     map[string]bool // sizes, which no loop may be named like
	labels    map[*Instr]string
	scans     int
	names     map[*Value]string // generated names, numbered again
	fresh     int               // of the scope
	taken     map[string]bool   // names of parameters, which callers use
}

// value is the printed name of a value: its own, or a number in the order of
// the text when it has none from the page.
func (p *printer) value(v *Value) string {
	if !v.Temporary() {
		return name(v.Name)
	}
	for p.names[v] == "" {
		p.fresh++
		if n := "%" + strconv.Itoa(p.fresh); !p.taken[n] {
			p.names[v] = n
		}
	}
	return p.names[v]
}

func (p *printer) avoidSize(size shape.Poly) {
	for _, s := range size.Symbols() {
		p.avoid[s] = true
	}
}

func (p *printer) function(indent string, f *Func) {
	labels, fresh := p.labels, p.fresh
	p.labels, p.fresh = map[*Instr]string{}, 0
	f.EachSize(p.avoidSize)
	for _, a := range f.Axes {
		p.avoidSize(a.Size)
	}
	params := make([]string, len(f.Params))
	width := 0
	for i, v := range f.Params {
		p.names[v], p.taken[v.Name] = name(v.Name), true
		params[i] = fmt.Sprintf("%s: %s %s%s%s", p.value(v), v.Role, v.Elem, p.axisList(v.Axes), nograd(v))
		width += utf8.RuneCountInString(params[i]) + 2
	}
	if width > 90 {
		sep := ",\n" + indent + "  "
		fmt.Fprintf(&p.b, "%sfunc %s(%s\n%s) {\n", indent, name(f.Name), sep[1:]+strings.Join(params, sep), indent)
	} else {
		fmt.Fprintf(&p.b, "%sfunc %s(%s) {\n", indent, name(f.Name), strings.Join(params, ", "))
	}
	p.body(indent+"  ", f)
	for _, r := range f.Results {
		state := ""
		if r.State {
			state = "state "
		}
		fmt.Fprintf(&p.b, "%s  return %s%s = %s\n", indent, state, name(r.Name), p.value(r.Val))
	}
	fmt.Fprintf(&p.b, "%s}\n", indent)
	p.labels, p.fresh = labels, fresh
}

// body prints the axes that were not declared further out, and the
// instructions.
func (p *printer) body(indent string, f *Func) {
	var decls []string
	for _, a := range collectAxes(f) {
		if p.declared[a] {
			continue
		}
		p.declared[a] = true
		n := p.axisName(a)
		if s, ok := a.Size.Symbol(); !ok || s != n {
			n = name(n) + " = " + polyText(a.Size)
		} else {
			n = name(n)
		}
		decls = append(decls, n)
	}
	if len(decls) > 0 {
		fmt.Fprintf(&p.b, "%saxes %s\n", indent, strings.Join(decls, ", "))
	}
	for _, in := range f.Body {
		if in.Scan != nil {
			p.scan(indent, in, "")
		} else {
			p.instr(indent, in)
		}
	}
}

func nograd(v *Value) string {
	if v.NoGrad && v.Elem == Real {
		return " nograd"
	}
	return ""
}

func (p *printer) axisList(axes []*Axis) string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = name(p.axisName(a))
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// typ is an element kind, unless it is real, and axes.
func (p *printer) typ(v *Value) string {
	if v.Elem == Real {
		return p.axisList(v.Axes)
	}
	return v.Elem.String() + p.axisList(v.Axes)
}

func (p *printer) instr(indent string, in *Instr) {
	b, loops := &p.b, p.loopNames(len(in.Loops))
	fmt.Fprintf(b, "%s%s %s", indent, p.value(in.Out), p.typ(in.Out))
	if !in.Op.Info().View && !Identity(in.To, len(in.Out.Axes)) {
		fmt.Fprintf(b, " at %s", p.subsText(in.To, loops))
	}
	fmt.Fprintf(b, " = %s", in.Op)
	for l, a := range in.Loops {
		fmt.Fprintf(b, " %s:%s", loops[l], name(p.axisName(a)))
	}
	for i, l := range in.Over {
		fmt.Fprintf(b, "%s %s", [2]string{"", " over"}[btoi(i == 0)], loops[l])
	}
	for i, g := range in.Guard {
		fmt.Fprintf(b, "%s %s >= 0", [2]string{",", " where"}[btoi(i == 0)], p.subText(g, loops))
	}
	if in.Op != Iota || len(in.Args) > 0 {
		b.WriteString(" :")
		p.payload(in, loops)
	}
	if in.Solve != nil {
		fmt.Fprintf(b, " tol %s with\n", number(in.Solve.Tol))
		p.function(indent+"  ", in.Solve.Residual)
		fmt.Fprintf(b, "%send", indent)
	}
	b.WriteString(eqText(in.Eq) + "\n")
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// payload prints what an instruction computes from.
func (p *printer) payload(in *Instr, loops []string) {
	switch in.Op {
	case SizeOf:
		p.b.WriteString(" " + polyText(in.Poly))
		return
	case Lin:
		p.b.WriteString(" " + p.linText(in, loops))
		return
	case Prod:
		if in.Coef[0] != 1 || len(in.Args) == 0 {
			p.b.WriteString(" " + number(in.Coef[0]))
		}
	case Const:
		p.b.WriteString(" " + number(in.Coef[0]))
	}
	for _, a := range in.Args {
		p.b.WriteString(" " + p.argText(a, loops))
	}
}

// linText is a sum such as "M[i, j] - 0.5 G[i, j] + 1".
func (p *printer) linText(in *Instr, loops []string) string {
	var t sumText
	term := func(c float64, text string) {
		minus := math.Signbit(c) && !math.IsNaN(c)
		if minus {
			c = -c
		}
		switch {
		case text == "":
			text = number(c)
		case c != 1:
			text = number(c) + " " + text
		}
		t.add(minus, text)
	}
	for i, a := range in.Args {
		term(in.Coef[i], p.argText(a, loops))
	}
	if c := in.Coef[len(in.Args)]; c != 0 || math.Signbit(c) || len(in.Args) == 0 {
		term(c, "")
	}
	return t.b.String()
}

func (p *printer) argText(a Arg, loops []string) string {
	if len(a.Sub) == 0 {
		return p.value(a.Val)
	}
	return p.value(a.Val) + p.subsText(a.Sub, loops)
}

func (p *printer) subsText(subs []Sub, loops []string) string {
	out := make([]string, len(subs))
	for i, s := range subs {
		out[i] = p.subText(s, loops)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (p *printer) subText(s Sub, loops []string) string {
	var t sumText
	size := !s.Const.IsZero()
	if m := s.Const.Monomials(); size && m[0].Coef.Sign() > 0 && len(s.Terms) > 0 && !slices.ContainsFunc(s.Terms, func(t Term) bool { return t.Coef >= 0 }) {
		polyTerms(&t, s.Const)
		size = false
	}
	terms := slices.Clone(s.Terms)
	slices.SortStableFunc(terms, func(a, b Term) int { return btoi(a.Coef < 0) - btoi(b.Coef < 0) })
	for _, x := range terms {
		c, n := x.Coef, loops[x.Loop]
		switch {
		case c == 1 || c == -1:
			t.add(c < 0, n)
		default:
			t.add(c < 0, strings.TrimPrefix(strconv.Itoa(c), "-")+"·"+n)
		}
	}
	if s.Indirect != nil {
		t.add(false, p.value(s.Indirect.Val)+p.subsText(s.Indirect.Sub, loops))
	}
	if size || t.b.Len() == 0 {
		polyTerms(&t, s.Const)
	}
	return t.b.String()
}

func polyText(q shape.Poly) string {
	var t sumText
	polyTerms(&t, q)
	return t.b.String()
}

func polyTerms(t *sumText, q shape.Poly) {
	for _, m := range q.Monomials() {
		var fs []string
		c := strings.TrimPrefix(m.Coef.RatString(), "-")
		if c != "1" || len(m.Syms) == 0 {
			fs = append(fs, c)
		}
		for _, s := range m.Syms {
			fs = append(fs, name(s))
		}
		t.add(m.Coef.Sign() < 0, strings.Join(fs, "·"))
	}
	if t.b.Len() == 0 {
		t.add(false, "0")
	}
}

// A sumText is a sum while it is printed.
type sumText struct{ b strings.Builder }

func (t *sumText) add(minus bool, s string) {
	switch {
	case t.b.Len() > 0 && minus:
		t.b.WriteString(" - ")
	case t.b.Len() > 0:
		t.b.WriteString(" + ")
	case minus:
		t.b.WriteString("-")
	}
	t.b.WriteString(s)
}

func number(c float64) string {
	switch {
	case math.IsNaN(c):
		return "nan"
	case math.IsInf(c, 1):
		return "inf"
	case math.IsInf(c, -1):
		return "-inf"
	}
	return strconv.FormatFloat(c, 'g', -1, 64)
}

// name is a name, quoted when it would be misread.
func name(s string) string {
	if keyword[s] || s == "" || !utf8.ValidString(s) {
		return strconv.Quote(s)
	}
	for i, r := range s {
		if !nameRune(r, i == 0) {
			return strconv.Quote(s)
		}
	}
	return s
}

func nameRune(r rune, first bool) bool {
	switch {
	case unicode.IsLetter(r) || strings.ContainsRune("_%°′ℓ∇", r):
		return true
	case first:
		return false
	}
	return unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune(".#'", r)
}

var keyword = map[string]bool{"axes": true, "scan": true, "primal": true, "return": true, "carry": true, "token": true,
	"shared": true, "replay": true, "next": true, "give": true, "sum": true, "state": true, "inf": true, "nan": true,
	"tol": true, "end": true, "at": true, "from": true, "to": true, "func": true}

// eqText is the id of an equation at the end of a line.
func eqText(eq string) string {
	if eq == "" {
		return ""
	}
	plain := strings.TrimSpace(eq) == eq && utf8.ValidString(eq) && !strings.HasPrefix(eq, `"`)
	for _, r := range eq {
		plain = plain && unicode.IsPrint(r)
	}
	if !plain {
		eq = strconv.Quote(eq)
	}
	return " ; " + eq
}
