package form_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/irbuild/form"
	"github.com/nl-hecate/hecate/gen/irbuild/tensor"
)

// expanded is the first result of a program, multiplied out in the parameters
// whose names are given.
func expanded(t *testing.T, text string, unknowns ...string) []form.Monomial {
	t.Helper()
	f, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	e := tensor.NewEmitter("f", &diag.List{})
	e.Func, e.IR = f, &ir.Builder{F: f}
	var vs []*ir.Value
	for _, u := range unknowns {
		vs = append(vs, f.Param(u))
	}
	v := f.Results[0].Val
	return form.NewExpander(e, vs...).Expand(e.FromValue(v, nil, v.Axes))
}

// spell is a sum of monomials as text: i0, i1 are the axes of the result, s the
// indices that are summed over.
func spell(ms []form.Monomial) string {
	var terms []string
	for _, m := range ms {
		factors := []string{fmt.Sprint(m.Coef)}
		for _, f := range m.Factors {
			var subs []string
			for _, s := range f.Sub {
				if s.Visible >= 0 {
					subs = append(subs, fmt.Sprintf("i%d", s.Visible))
				} else {
					subs = append(subs, fmt.Sprintf("s%d", slices.Index(m.Sums, s.Affine.Var())))
				}
			}
			factors = append(factors, name(f.Val)+"["+strings.Join(subs, ",")+"]")
		}
		terms = append(terms, strings.Join(factors, " "))
	}
	return strings.Join(terms, " + ")
}

// name is the name of a value; an inverse has none of its own.
func name(v *ir.Value) string {
	if v.Def != nil && v.Def.Op == ir.Div {
		return "inverse"
	}
	return v.Name
}

// delta is M (I − k kᵀ/c) + v kᵀ as instructions.
const delta = `func f(M: input real[m, n], k: input real[n], v: input real[m], c: input real[]) {
  axes m, n
  e [m] = prod i:m j:n : M[i, j] k[j]
  d [m] = div i:m : e[i] c[]
  u [m] = lin i:m : v[i] - d[i]
  w [m, n] = prod i:m j:n : u[i] k[j]
  out [m, n] = lin i:m j:n : M[i, j] + w[i, j]
  return out = out
}`

func TestExpand(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"delta", delta, "1 M[i0,i1] + 1 k[i1] v[i0] + -1 k[i1] inverse[] M[i0,s0] k[s0]"},
		{"square", `func f(M: input real[n]) {
  axes n
  s [] = prod i:n : M[i] M[i]
  out [n] = prod i:n : 2 s[] M[i]
  return out = out
}`, "2 M[i0] M[s0] M[s0]"},
		{"tanh", `func f(M: input real[n]) {
  axes n
  out [n] = tanh i:n : M[i]
  return out = out
}`, ""},
	} {
		if got := spell(expanded(t, c.text, "M")); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// state is the factor of a monomial that is named M.
func state(m form.Monomial) map[*ir.Value]string {
	i := slices.IndexFunc(m.Factors, func(f tensor.Factor) bool { return f.Val.Name == "M" })
	return map[*ir.Value]string{m.Factors[i].Val: "M"}
}

// TestComponents divides the coefficient of M in delta: k at the column, and the
// sum over the index at which M is read.
func TestComponents(t *testing.T) {
	ms := expanded(t, delta, "M")
	m := ms[2]
	reads, held, rest, ok := m.SplitState(state(m), 0)
	if !ok || reads != "M 0 Σ" || len(held) != 1 {
		t.Fatalf("%q %v %v", reads, held, ok)
	}
	gs, ok := form.Monomial{Factors: rest, Sums: m.Sums}.Components(held)
	var open []string
	for _, g := range gs {
		open = append(open, fmt.Sprint(name(g.Factors[0].Val), g.Open))
	}
	if got, want := strings.Join(open, " "), "k[1] inverse[] k[-1]"; !ok || got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestAssign finds b and w of the form M b wᵀ in the third term of delta: the
// number belongs to the input that no other term of the form has.
func TestAssign(t *testing.T) {
	m := expanded(t, delta, "M")[2]
	reads, held, rest, _ := m.SplitState(state(m), 0)
	gs, _ := form.Monomial{Factors: rest, Sums: m.Sums}.Components(held)
	ps := []form.Pattern{
		{Coef: 1, Reads: "M 0 1", Places: nil},
		{Coef: -1, Reads: reads, Places: []form.Place{{Input: "b", Open: []int{-1}}, {Input: "w", Open: []int{1}}}},
		{Coef: 1, Places: []form.Place{{Input: "v", Open: []int{0}}, {Input: "w", Open: []int{1}}}},
	}
	shared := form.SharedInputs(ps)
	if !shared["w"] || shared["b"] || shared["v"] {
		t.Errorf("shared inputs: %v", shared)
	}
	if !form.Assign(ps, reads, m.Coef, gs, held, shared) || len(ps[1].Terms) != 1 {
		t.Fatal("the term has no place in the form")
	}
	fit := ps[1].Terms[0]
	if fit.Coef != 1 || fit.Scalar != 0 || len(fit.Values[0]) != 2 || len(fit.Values[1]) != 1 {
		t.Errorf("%+v", fit)
	}
	if form.Assign(ps[:1], reads, m.Coef, gs, held, shared) {
		t.Error("a term that reads the state summed was taken for one that reads it entry by entry")
	}
}
