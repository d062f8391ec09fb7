package simplify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// The text of canonical forms. Like terms are added, conditions that make two
// variables equal are substituted, and the summed loops of each product are
// named in the order that gives the smallest text.

// short is a hash that stands for a long text inside other texts.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:16])
}

// Hash is a hash of the function that a program computes: of the text of its
// simplified form without internal names, ids of equations and the order of
// independent instructions.
func Hash(f *ir.Func) string {
	g, _ := f.Clone()
	Simplify(g)
	g.Name = ""
	anonymous(g)
	sum := sha256.Sum256([]byte(g.String()))
	return hex.EncodeToString(sum[:])
}

// anonymous sorts instructions topologically from the results and drops names.
func anonymous(f *ir.Func) {
	var order []*ir.Instr
	done := map[*ir.Instr]bool{}
	inside := map[*ir.Instr]bool{}
	for _, in := range f.Body {
		inside[in] = true
	}
	var visit func(in *ir.Instr)
	visit = func(in *ir.Instr) {
		if in == nil || done[in] || !inside[in] {
			return
		}
		done[in] = true
		if in.Scan != nil {
			visit(in.Scan.Primal)
		}
		for _, v := range in.Reads() {
			visit(v.Def)
		}
		order = append(order, in)
	}
	slices.SortStableFunc(f.Results, func(a, b ir.Result) int { return strings.Compare(a.Name, b.Name) })
	for _, r := range f.Results {
		visit(r.Val.Def)
	}
	f.Body = order
	for _, in := range f.Body {
		in.Eq = ""
		for _, v := range in.Defines() {
			v.Name = "%"
		}
		if in.Scan == nil {
			continue
		}
		anonymousScan(in)
		if p := in.Scan.Primal; p != nil && !inside[p] {
			anonymousScan(p)
		}
	}
}

// anonymousScan does the same for the body of a scan.
func anonymousScan(in *ir.Instr) {
	s := in.Scan
	in.Eq, s.Body.Name = "", ""
	for _, v := range in.Defines() {
		v.Name = "%"
	}
	s.SetResults(nil)
	for i := range s.Body.Results {
		s.Body.Results[i].Name = fmt.Sprintf("%09d", i)
	}
	for _, p := range s.Body.Params {
		p.Name = "%"
	}
	anonymous(s.Body)
}

func freeNames(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("o%d", i)
	}
	return out
}

// combineLikeTerms adds the coefficients of products with one text; axes are
// those of the free variables.
func (c *canon) combineLikeTerms(f form, axes []*ir.Axis) form {
	free := len(axes)
	names := freeNames(free)
	at := map[string]int{}
	var out form
	for _, m := range f {
		m = c.sumOverUnused(substituteEqual(m, axes), free)
		k := c.mono(m, names)
		if i, ok := at[k]; ok {
			out[i].coef = new(big.Rat).Add(out[i].coef, m.coef)
			continue
		}
		at[k] = len(out)
		out = append(out, m)
	}
	return slices.DeleteFunc(out, func(m monomial) bool { return m.coef.Sign() == 0 })
}

// substituteEqual eliminates a summed loop that a condition makes equal to
// another variable of the same axis. Two free variables both stay, in order.
func substituteEqual(m monomial, axes []*ir.Axis) monomial {
	free := len(axes)
	m.conds = slices.DeleteFunc(slices.Clone(m.conds), cond.empty)
	for k := 0; k < len(m.conds); k++ {
		x, y, ok := m.conds[k].pair()
		if !ok {
			continue
		}
		if x > y {
			x, y = y, x
		}
		of := func(v int) *ir.Axis {
			if v < free {
				return axes[v]
			}
			return m.bound[v-free]
		}
		if of(x) != of(y) {
			continue
		}
		if y < free {
			m.conds[k].sub.Terms = []ir.Term{{Loop: x, Coef: 1}, {Loop: y, Coef: -1}}
			continue
		}
		at := make([]ir.Sub, free+len(m.bound))
		for i := range at {
			switch {
			case i == y:
				at[i] = ir.L(x)
			case i > y:
				at[i] = ir.L(i - 1)
			default:
				at[i] = ir.L(i)
			}
		}
		m.conds = slices.Delete(m.conds, k, k+1)
		out, ok := m.subst(at)
		if !ok {
			return m
		}
		out.bound = slices.Delete(slices.Clone(m.bound), y-free, y-free+1)
		out.conds = slices.DeleteFunc(out.conds, cond.empty)
		m, k = out, -1
	}
	return m
}

// empty reports whether a condition says that 0 = 0.
func (k cond) empty() bool {
	return k.kind == "=0" && k.sub.Indirect == nil && k.sub.Const.IsZero() && len(ir.MergeTerms(slices.Clone(k.sub.Terms))) == 0
}

// pair are the two variables that a condition makes equal.
func (k cond) pair() (x, y int, ok bool) {
	ts := k.sub.Terms
	if k.kind != "=0" || k.sub.Indirect != nil || !k.sub.Const.IsZero() || len(ts) != 2 || ts[0].Coef != -ts[1].Coef || ts[0].Coef*ts[0].Coef != 1 {
		return 0, 0, false
	}
	return ts[0].Loop, ts[1].Loop, true
}

// sumOverUnused replaces a summed loop that nothing depends on by the size of
// its axis.
func (c *canon) sumOverUnused(m monomial, free int) monomial {
	used := map[int]bool{}
	for _, a := range m.facs {
		a.Loops(used)
	}
	for _, k := range m.conds {
		k.sub.Loops(used)
	}
	at := make([]ir.Sub, free+len(m.bound))
	for i := range at {
		at[i] = ir.L(i)
	}
	var bound []*ir.Axis
	var counts []ir.Arg
	coef := m.coef
	for i, a := range m.bound {
		if used[free+i] {
			at[free+i] = ir.L(free + len(bound))
			bound = append(bound, a)
		} else if n, ok := a.Size.Const(); ok {
			coef = new(big.Rat).Mul(coef, big.NewRat(n, 1))
		} else {
			counts = append(counts, ir.Arg{Val: c.atom("size "+a.Size.String(), nil)})
		}
	}
	if len(bound) == len(m.bound) {
		return m
	}
	out, _ := m.subst(at)
	out.bound, out.coef, out.facs = bound, coef, append(out.facs, counts...)
	return out
}

// text is the canonical text of a form whose free variables have names.
func (c *canon) text(f form, names []string) string {
	var terms []string
	sums := map[string]*big.Rat{}
	for _, m := range f {
		k := c.mono(m, names)
		if sums[k] == nil {
			sums[k] = new(big.Rat)
			terms = append(terms, k)
		}
		sums[k].Add(sums[k], m.coef)
	}
	slices.Sort(terms)
	var out []string
	for _, k := range terms {
		if s := sums[k]; s.Sign() != 0 {
			out = append(out, s.RatString()+" "+k)
		}
	}
	return strings.Join(out, " + ")
}

// mono is the text of a product without its coefficient: the smallest over the
// orders of its summed loops that look alike at first. Where these are too many
// to try, the form is one of several, and equal products may look different.
func (c *canon) mono(m monomial, names []string) string {
	groups := c.groups(m, len(names))
	few := orders(groups) <= maxOrders
	best := ""
	full := make([]string, len(names)+len(m.bound))
	copy(full, names)
	var rec func(g, k int)
	rec = func(g, k int) {
		if g == len(groups) {
			if t := m.text(full); best == "" || t < best {
				best = t
			}
			return
		}
		try := func(order []int) {
			for i, b := range order {
				full[len(names)+b] = fmt.Sprintf("b%d:%s", k+i, axesText(m.bound[b:b+1]))
			}
			rec(g+1, k+len(order))
		}
		if few {
			permute(groups[g], try)
		} else {
			try(groups[g])
		}
	}
	rec(0, 0)
	return best
}

// orders is the number of orders that permute tries for all groups together.
func orders(groups [][]int) int {
	n := 1
	for _, g := range groups {
		if len(g) > maxPermuted {
			continue
		}
		for k := 2; k <= len(g) && n <= maxOrders; k++ {
			n *= k
		}
	}
	return n
}

// groups sorts the summed loops by where they occur and puts loops together
// that occur alike.
func (c *canon) groups(m monomial, free int) [][]int {
	if len(m.bound) == 1 {
		return [][]int{{0}}
	}
	sig := make([]string, len(m.bound))
	for i, a := range m.bound {
		names := make([]string, free+len(m.bound))
		for k := range names {
			names[k] = "·"
		}
		names[free+i] = "x"
		sig[i] = axesText([]*ir.Axis{a}) + m.text(names)
	}
	order := make([]int, len(sig))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(sig[a], sig[b]) })
	var out [][]int
	for i, b := range order {
		if i > 0 && sig[order[i-1]] == sig[b] {
			out[len(out)-1] = append(out[len(out)-1], b)
		} else {
			out = append(out, []int{b})
		}
	}
	return out
}

// text writes factors and conditions, sorted, with the given names.
func (m monomial) text(names []string) string {
	var parts []string
	for _, a := range m.facs {
		parts = append(parts, argText(a, names))
	}
	slices.Sort(parts)
	var conds []string
	for _, k := range m.conds {
		conds = append(conds, "{"+subText(k.sub, names)+" "+k.kind+"}")
	}
	slices.Sort(conds)
	return strings.Join(parts, " ") + strings.Join(slices.Compact(conds), "")
}

func argText(a ir.Arg, names []string) string {
	out := make([]string, len(a.Sub))
	for i, s := range a.Sub {
		out[i] = subText(s, names)
	}
	return a.Val.Name + "[" + strings.Join(out, ",") + "]"
}

func subText(s ir.Sub, names []string) string {
	var parts []string
	for _, t := range s.Terms {
		parts = append(parts, strconv.Itoa(t.Coef)+"·"+names[t.Loop])
	}
	slices.Sort(parts)
	if !s.Const.IsZero() {
		parts = append(parts, s.Const.String())
	}
	if s.Indirect != nil {
		parts = append(parts, argText(*s.Indirect, names))
	}
	return strings.Join(parts, "+")
}
