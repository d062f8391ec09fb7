package simplify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Hash-based value numbering. Equal instructions have one text: values and
// axes by number, loops numbered by the output and then by the factors in
// order, factors of a product and terms of a sum sorted. The coefficient of a
// product with a sum is left out, so that a multiple is found too; the caller
// compares it.

func (s *simplifier) key(in *ir.Instr) string {
	names := make([]string, len(in.Loops))
	n := 0
	name := func(l int) {
		if names[l] == "" {
			names[l] = fmt.Sprintf("i%d:%d", n, s.id(in.Loops[l]))
			n++
		}
	}
	for _, t := range in.To {
		if l, ok := t.Loop(); ok {
			name(l)
		}
	}
	order := s.sorted(in, names)
	for _, i := range order {
		for _, sub := range in.Args[i].Sub {
			if l, ok := sub.Loop(); ok {
				name(l)
			}
		}
	}
	for l := range in.Loops {
		name(l)
	}
	return s.write(in, names, order)
}

// sorted returns the order of the arguments: sorted where the operation is
// commutative.
func (s *simplifier) sorted(in *ir.Instr, names []string) []int {
	order := make([]int, len(in.Args))
	keys := make([]string, len(in.Args))
	for i, a := range in.Args {
		order[i], keys[i] = i, s.argKey(a, names)
		if in.Op == ir.Lin {
			keys[i] += fmt.Sprint("*", in.Coef[i])
		}
	}
	switch in.Op {
	case ir.Prod, ir.Lin, ir.Equal, ir.And, ir.Or:
		slices.SortStableFunc(order, func(i, j int) int { return strings.Compare(keys[i], keys[j]) })
	}
	return order
}

func (s *simplifier) write(in *ir.Instr, names []string, order []int) string {
	var b strings.Builder
	loops := slices.Clone(names)
	slices.Sort(loops)
	fmt.Fprintf(&b, "%v %d %v[", in.Op, in.Out.Elem, loops)
	for _, a := range in.Out.Axes {
		fmt.Fprintf(&b, "%d ", s.id(a))
	}
	fmt.Fprintf(&b, "] %s", s.subsKey(in.To, names))
	for _, i := range order {
		b.WriteString(" " + s.argKey(in.Args[i], names))
		if in.Op == ir.Lin {
			fmt.Fprint(&b, "*", in.Coef[i])
		}
	}
	switch {
	case in.Op == ir.Lin:
		fmt.Fprint(&b, "+", in.Coef[len(in.Coef)-1])
	case in.Op != ir.Prod || len(in.Reduced()) == 0:
		fmt.Fprint(&b, in.Coef)
	}
	guards := make([]string, len(in.Guard))
	for i, g := range in.Guard {
		guards[i] = s.subKey(g, names)
	}
	slices.Sort(guards)
	fmt.Fprintf(&b, " if %v over", guards)
	for _, l := range in.Over {
		b.WriteString(" " + names[l])
	}
	if in.Op == ir.SizeOf {
		b.WriteString(" " + in.Poly.String())
	}
	if in.Solve != nil {
		fmt.Fprintf(&b, " solve %g %s", in.Solve.Tol, in.Solve.Residual)
		for _, a := range in.Solve.Residual.Axes {
			fmt.Fprintf(&b, " %d", s.id(a))
		}
	}
	return b.String()
}

// argKey is an argument with its loops by name, or by number without names.
func (s *simplifier) argKey(a ir.Arg, names []string) string {
	return fmt.Sprintf("v%d%s", s.order[a.Val], s.subsKey(a.Sub, names))
}

func (s *simplifier) subsKey(subs []ir.Sub, names []string) string {
	out := make([]string, len(subs))
	for i, x := range subs {
		out[i] = s.subKey(x, names)
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (s *simplifier) subKey(x ir.Sub, names []string) string {
	var parts []string
	for _, t := range ir.MergeTerms(slices.Clone(x.Terms)) {
		if names == nil {
			parts = append(parts, fmt.Sprintf("%d·l%d", t.Coef, t.Loop))
		} else {
			parts = append(parts, fmt.Sprintf("%d·(%s)", t.Coef, names[t.Loop]))
		}
	}
	slices.Sort(parts)
	if !x.Const.IsZero() {
		parts = append(parts, x.Const.String())
	}
	if x.Indirect != nil {
		parts = append(parts, s.argKey(*x.Indirect, names))
	}
	return strings.Join(parts, "+")
}

// id numbers axes in the order of their first use.
func (s *simplifier) id(x any) int {
	if _, ok := s.ids[x]; !ok {
		s.ids[x] = len(s.ids)
	}
	return s.ids[x]
}
