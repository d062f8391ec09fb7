package parser

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// full writes a tree with every pair of parentheses and every product sign.
func full(e notation.Expr) string {
	all := func(es []notation.Expr, sep string) string {
		var out []string
		for _, x := range es {
			out = append(out, full(x))
		}
		return strings.Join(out, sep)
	}
	switch e := e.(type) {
	case *notation.Juxt:
		return "(" + all(e.Items, " ") + ")"
	case *notation.Binary:
		return "(" + full(e.X) + " " + e.Op + " " + full(e.Y) + ")"
	case *notation.Unary:
		return "(−" + full(e.X) + ")"
	case *notation.Power:
		return "(" + full(e.X) + "^" + full(e.Exp) + ")"
	case *notation.Transpose:
		return "(" + full(e.X) + ")ᵀ"
	case *notation.Index:
		return full(e.X) + "[" + all(e.At, ",") + "]"
	case *notation.Field:
		return full(e.X) + "." + e.Name.Text
	case *notation.Call:
		return e.Fun.Text + "(" + all(e.Args, ", ") + ")"
	case *notation.Grad:
		return "∇_" + e.Wrt.Text + "{" + full(e.Call) + "}"
	case *notation.Reduce:
		return e.Op + "{" + full(e.Body) + "}"
	case *notation.Relation:
		return "(" + full(e.X) + " " + e.Op + " " + full(e.Y) + ")"
	case *notation.And:
		return "(" + full(e.X) + " and " + full(e.Y) + ")"
	case *notation.Norm:
		return "‖" + full(e.X) + "‖"
	case *notation.Abs:
		return "|" + full(e.X) + "|"
	}
	return notation.Print(e, notation.Unicode)
}

func TestPrecedence(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a b c", "(a b c)"},
		{"a b · c", "((a b) · c)"},
		{"a · b · c", "((a · b) · c)"},
		{"a / b / c", "((a / b) / c)"},
		{"a b / c", "((a b) / c)"},
		{"a / (b c)", "(a / (b c))"},
		{"(a / b) c", "((a / b) c)"},
		{"a · (b ⊙ c)", "(a · (b ⊙ c))"},
		{"a + b c − d", "((a + (b c)) − d)"},
		{"a − b − c", "((a − b) − c)"},
		{"−a b", "(−(a b))"},
		{"−a · b + c", "((−(a · b)) + c)"},
		{"a + −b", "(a + (−b))"},
		{"−a²", "(−(a^2))"},
		{"θ M kᵀ", "(θ M (k)ᵀ)"},
		{"A Bᵀ'", "(A ((B)ᵀ)ᵀ)"},
		{"a^n b", "((a^n) b)"},
		{"a^{n−1}", "(a^(n − 1))"},
		{"a^−2", "(a^(−2))"},
		{"aⁿ + b⁻¹ + c¹²", "(((a^n) + (b^(−1))) + (c^12))"},
		{"x[i]²", "(x[i]^2)"},
		{"M_t[i, j]ᵀ", "(M_t[i,j])ᵀ"},
		{"ℓ.r[i]", "ℓ.r[i]"},
		{"exp(a) b", "(exp(a) b)"},
		{"exp (a) b", "(exp a b)"},
		{"f(a)", "(f a)"},
		{"f(a, b)g", "(f(a, b) g)"}, // with f known
		{"θ ∇_M ℓ(M; k) + a", "((θ ∇_M{ℓ(M, k)}) + a)"},
		{"Σ_i a b · c + d", "(Σ{((a b) · c)} + d)"},
		{"x Σ_i a b", "(x Σ{(a b)})"},
		{"x · Σ_i a ⊙ b", "(x · Σ{(a ⊙ b)})"},
		{"(Σ_i a) b", "(Σ{a} b)"},
		{"Σ_i Π_j a b + c", "(Σ{Π{(a b)}} + c)"},
		{"Σ_i (a + b)", "Σ{(a + b)}"},
		{"A softmax_i(a) b + c", "((A softmax{a} b) + c)"},
		{"a ∪ b + c", "(a ∪ (b + c))"},
		{"a + b ≤ c", "((a + b) ≤ c)"},
		{"a ≤ b < c", "((a ≤ b) and (b < c))"},
		{"a = b and c ∈ d", "((a = b) and (c ∈ d))"},
		{"½ ‖M k − v‖²", "(½ (‖((M k) − v)‖^2))"},
		{"|a| x |b|", "(|a| x |b|)"},
		{"|a| · |b|", "(|a| · |b|)"},
		{"|a (|b|)|", "|(a |b|)|"},
		{"a mod b = 0", "((a mod b) = 0)"},
		{"f ∘ g", "(f ∘ g)"},
		{"a - b", "(a − b)"},
		{"norm(a) . abs(b)", "(‖a‖ · |b|)"},
		{"a (*) b", "(a ⊙ b)"},
		{"grad_M ell(M)", "∇_M{ℓ(M)}"},
		{"grad_{W1} J(W1)", "∇_W1{J(W1)}"},
		{"sum_{i in n, i < t} x", "Σ{x}"},
	} {
		var known []string
		if strings.HasPrefix(c.in, "f(a, b)") {
			known = []string{"f"}
		}
		e, ds := ParseExpr(nil, c.in, known...)
		if ds.Len() > 0 {
			t.Errorf("ParseExpr(%q): %s", c.in, ds.Error())
			continue
		}
		if got := full(e); got != c.want {
			t.Errorf("ParseExpr(%q) = %s, want %s", c.in, got, c.want)
		}
		again, ds := ParseExpr(nil, notation.Print(e, notation.Unicode), known...)
		if ds.Len() > 0 || !notation.Equal(e, again) {
			t.Errorf("%q printed as %q is another tree: %s", c.in, notation.Print(e, notation.Unicode), ds.Error())
		}
		again, ds = ParseExpr(nil, notation.Print(e, notation.ASCII), known...)
		if ds.Len() > 0 || !notation.Equal(e, again) {
			t.Errorf("%q printed as %q is another tree: %s", c.in, notation.Print(e, notation.ASCII), ds.Error())
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		in, name string
		bar      bool
		time     string
		ascii    string
	}{
		{"W_K", "W_K", false, "", "W_K"},
		{"S_K_t", "S_K_t", false, "", "S_K_t"},
		{"theta", "θ", false, "", "theta"},
		{"w_rho", "w_ρ", false, "", "w_rho"},
		{"beta_1", "β₁", false, "", "beta_1"},
		{"β₁", "β₁", false, "", "beta_1"},
		{"λ_loc", "λ_loc", false, "", "lambda_loc"},
		{"ell", "ℓ", false, "", "ell"},
		{"M_0", "M_0", false, "", "M_0"},
		{"M₀", "M_0", false, "", "M_0"},
		{"xₜ", "x_t", false, "", "x_t"},
		{"xₜ₋₁", "x", false, "t − 1", "x_{t-1}"},
		{"β₁ₜ₋₁", "β₁", false, "t − 1", "beta_1_{t-1}"},
		{"x₋₁", "x", false, "−1", "x_{-1}"},
		{"M̄_t", "M_t", true, "", "M_bar_t"},
		{"M_bar_t", "M_t", true, "", "M_bar_t"},
		{"\u0100", "A", true, "", "A_bar"},
		{"A\u0304", "A", true, "", "A_bar"},
		{"out\u0304", "out", true, "", "out_bar"},
		{"k̄_{t−1}", "k", true, "t − 1", "k_bar_{t-1}"},
		{"A1⁰", "A1⁰", false, "", "A1^0"},
		{"A1^0", "A1⁰", false, "", "A1^0"},
		{"W_K⁰", "W_K⁰", false, "", "W_K^0"},
		{"M°", "M°", false, "", "M_snap"},
		{"M_snap_t", "M°_t", false, "", "M_snap_t"},
		{"M_{C}", "M", false, "C", "M_{C}"},
		{"\u00B5", "μ", false, "", "mu"},
		{"\u2126_1", "Ω₁", false, "", "Omega_1"},
		{"ϕ", "φ", false, "", "phi"},
		{"lambda2", "λ2", false, "", "lambda2"},
		{"xᵢ", "x_i", false, "", "x_i"},
	} {
		e, ds := ParseExpr(nil, c.in)
		id, ok := e.(*notation.Ident)
		if ds.Len() > 0 || !ok {
			t.Errorf("ParseExpr(%q) = %T, %s", c.in, e, ds.Error())
			continue
		}
		time := ""
		if id.Time != nil {
			time = notation.Print(id.Time, notation.Unicode)
		}
		if id.Name.Text != c.name || id.Bar != c.bar || time != c.time {
			t.Errorf("ParseExpr(%q) = %s bar %v time %q, want %s bar %v time %q", c.in, id.Name.Text, id.Bar, time, c.name, c.bar, c.time)
		}
		if got := notation.Print(e, notation.ASCII); got != c.ascii {
			t.Errorf("Print(%q, ASCII) = %q, want %q", c.in, got, c.ascii)
		}
	}
}

// TestInspect builds every node with every field set and counts what Inspect
// finds, so that no field is forgotten.
func TestInspect(t *testing.T) {
	seen := map[string]bool{}
	for name, text := range corpus(t) {
		file, ds := parseText(text)
		if ds.HasErrors() {
			t.Fatalf("%s: %s", name, ds.Error())
		}
		visited := map[any]bool{}
		notation.Inspect(file, func(n any) bool { visited[n] = true; return true })
		want := map[any]bool{}
		reach(reflect.ValueOf(file), want)
		for n := range want {
			seen[fmt.Sprintf("%T", n)] = true
			if !visited[n] {
				t.Errorf("%s: Inspect misses a %T", name, n)
			}
		}
	}
	if len(seen) < 55 {
		t.Errorf("the pages hold only %d kinds of node", len(seen))
	}
}

// reach collects all pointers to structs but words, texts and sources.
func reach(v reflect.Value, out map[any]bool) {
	switch v.Kind() {
	case reflect.Interface:
		reach(v.Elem(), out)
	case reflect.Slice:
		for i := range v.Len() {
			reach(v.Index(i), out)
		}
	case reflect.Pointer:
		switch v.Interface().(type) {
		case *notation.Word, *notation.Text, *source.File:
			return
		}
		if !v.IsNil() {
			out[v.Interface()] = true
			reach(v.Elem(), out)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			reach(field, out)
		}
	}
}
