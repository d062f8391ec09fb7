package plan

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/shape"
)

// String prints a kernel for a person: buffers first, then the body.
func (k *Kernel) String() string {
	p := &printer{}
	p.line("kernel %s", k.Name)
	for _, d := range k.Doc {
		p.line("; %s", d)
	}
	p.line("sizes %s", strings.Join(k.Sizes, " "))
	for _, c := range k.Ceils {
		p.line("size %s = ⌈(%s)/(%s)⌉", c.Name, c.Num, c.Den)
	}
	if k.Segment != "" {
		p.line("a checkpoint every %s tokens", k.Segment)
	}
	for _, b := range k.Params {
		p.line("%s", b)
	}
	for _, b := range k.Work {
		p.line("%s", b)
	}
	p.line("entries saved: %s", k.Memory.Saved)
	p.line("entries of checkpoints: %s", k.Memory.Checkpoints)
	p.line("entries of workspace: %s", k.Memory.Workspace)
	p.nodes(k.Body)
	return p.b.String()
}

// String prints a buffer's role, name and sizes.
func (b *Buffer) String() string {
	dims := make([]string, len(b.Dims))
	for i, d := range b.Dims {
		dims[i] = d.String()
	}
	s := fmt.Sprintf("%s %s %s [%s]", b.Role, b.Elem, b.Name, strings.Join(dims, ", "))
	if b.ViewOf != nil {
		s += " of " + b.ViewOf.Name
	}
	if b.NarrowOf != nil {
		s += " of " + b.NarrowOf.Name
	}
	if b.Optional {
		s += " optional"
	}
	return s
}

type printer struct {
	b      strings.Builder
	indent int
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("\t", p.indent))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *printer) nodes(ns []Node) {
	for _, n := range ns {
		p.node(n)
	}
}

func (p *printer) body(ns []Node) {
	p.indent++
	p.nodes(ns)
	p.indent--
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Loop:
		down := ""
		if n.Down {
			down = " down"
		}
		sums := ""
		if n.Sums > 1 {
			sums = fmt.Sprintf(" by %d", n.Sums)
		}
		p.line("%s %s in [%s, %s)%s%s", n.Kind, n.Var.Name, extremum("max", n.Lo), extremum("min", n.Hi), down, sums)
		p.indent++
		for _, b := range n.Private {
			p.line("%s", b)
		}
		p.indent--
		p.body(n.Body)
	case *If:
		var cs []string
		for _, c := range n.Cond {
			cs = append(cs, c.String()+" ≥ 0")
		}
		if n.Present != nil {
			cs = append(cs, n.Present.Name+" present")
		}
		p.line("if %s", strings.Join(cs, ", "))
		p.body(n.Body)
	case *FindRoot:
		p.line("%s = root %s in [%s, %s] tol %s of %s", n.To.Name, n.X.Name, ExprString(n.Lo), ExprString(n.Hi), number(n.Tol), ExprString(n.Val))
		p.body(n.Body)
	case *Let:
		p.line("%s = %s", n.To.Name, ExprString(n.Val))
	case *Gather:
		s := n.From.String()
		if len(n.Plus.Terms) > 0 || !n.Plus.Const.IsZero() {
			s += " + " + n.Plus.String()
		}
		p.line("%s = %s", n.To.Name, s)
	case *Accumulate:
		op := "+="
		switch {
		case n.Max:
			op = "max="
		case n.Set:
			op = "="
		}
		p.line("%s %s %s", n.To.Name, op, ExprString(n.Val))
	case *Store:
		op := "="
		if n.Add {
			op = "+="
		}
		var vs []string
		for _, v := range n.Vals {
			vs = append(vs, ExprString(v))
		}
		p.line("%s %s %s", n.To, op, strings.Join(vs, ", "))
	case *Region:
		p.line("region %s across %s", n.Name, n.Across)
		p.body(n.Body)
	case *Narrow:
		p.line("narrow %s", n.Buf.Name)
	case *Zero:
		p.line("%s = 0", n.Buf.Name)
	case *Note:
		p.line("; %s", strings.TrimSpace(strings.Join(n.Eqs, ", ")+" "+n.Text))
	case *Gemm:
		op := "="
		if n.Add {
			op = "+="
		}
		p.line("gemm %s %s %s·%s·%s over m:%s n:%s k:%s", n.C, op, number(n.Coef), n.A, n.B, n.M, n.N, n.K)
	case *TriSolve:
		p.line("triangle %s by %s over m:%s n:%s%s", n.X, n.A, n.M, n.N, [2]string{"", " down"}[btoi(n.Down)])
	default:
		panic(fmt.Sprintf("plan: BUG: no text for %T", n))
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// String prints a matrix as its first entry and distances.
func (m Matrix) String() string { return fmt.Sprintf("%s(%s, %s)", m.At, m.Row, m.Col) }

func extremum(name string, xs []Index) string {
	s := make([]string, len(xs))
	for i, x := range xs {
		s[i] = x.String()
	}
	if len(s) == 1 {
		return s[0]
	}
	return name + "(" + strings.Join(s, ", ") + ")"
}

// String prints an index such as C·s + a − 1.
func (x Index) String() string {
	var parts []string
	for _, t := range x.Terms {
		switch c, ok := t.Coef.Const(); {
		case ok && c == 1:
			parts = append(parts, t.Var.Name)
		case ok && c == -1:
			parts = append(parts, "-"+t.Var.Name)
		default:
			parts = append(parts, bracket(t.Coef)+"·"+t.Var.Name)
		}
	}
	if !x.Const.IsZero() || len(parts) == 0 {
		parts = append(parts, x.Const.String())
	}
	return strings.ReplaceAll(strings.Join(parts, " + "), "+ -", "- ")
}

func bracket(p shape.Poly) string {
	if len(p.Monomials()) > 1 {
		return "(" + p.String() + ")"
	}
	return p.String()
}

// String prints an access such as M[l, i, j].
func (a Access) String() string {
	s := make([]string, len(a.Index))
	for i, x := range a.Index {
		s[i] = x.String()
	}
	return a.Buf.Name + "[" + strings.Join(s, ", ") + "]"
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// ExprString prints an expression.
func ExprString(e Expr) string {
	switch e := e.(type) {
	case Load:
		return e.Access.String()
	case Ref:
		return e.To.Name
	case Num:
		return number(e.V)
	case IndexExpr:
		return "real(" + e.Index.String() + ")"
	case Prod:
		return factor(e.Coef, len(e.Args) == 0) + strings.Join(each(e.Args, "·"), "·")
	case Lin:
		return linString(e)
	case Fma:
		sign := "+"
		if e.Neg {
			sign = "-"
		}
		return fmt.Sprintf("fma(%s%s, %s, %s)", sign, ExprString(e.A), ExprString(e.B), ExprString(e.C))
	case Call:
		return e.Op.String() + "(" + strings.Join(each(e.Args, ""), ", ") + ")"
	}
	panic(fmt.Sprintf("plan: BUG: no text for %T", e))
}

func linString(e Lin) string {
	var parts []string
	if e.Const != 0 || len(e.Args) == 0 {
		parts = append(parts, number(e.Const))
	}
	for i, s := range each(e.Args, "") {
		parts = append(parts, factor(e.Coef[i], false)+s)
	}
	return strings.ReplaceAll(strings.Join(parts, " + "), "+ -", "- ")
}

func factor(c float64, alone bool) string {
	switch {
	case alone:
		return number(c)
	case c == 1:
		return ""
	case c == -1:
		return "-"
	}
	return number(c) + "·"
}

// each prints arguments, sums in brackets inside a product.
func each(args []Expr, op string) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = ExprString(a)
		_, sum := a.(Lin)
		_, product := a.(Prod)
		if op == "·" && (sum || product && i > 0) {
			out[i] = "(" + out[i] + ")"
		}
	}
	return out
}
