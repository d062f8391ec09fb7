package emitgo

import (
	"fmt"
	"go/token"
	"strings"
	"unicode"
)

// greek spells the letters of formulas.
var greek = map[rune]string{
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "eps", 'ζ': "zeta", 'η': "eta", 'θ': "theta",
	'ι': "iota", 'κ': "kappa", 'λ': "lambda", 'μ': "mu", 'ν': "nu", 'ξ': "xi", 'π': "pi", 'ρ': "rho", 'σ': "sigma",
	'τ': "tau", 'υ': "upsilon", 'φ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega", 'Γ': "Gamma", 'Δ': "Delta",
	'Θ': "Theta", 'Λ': "Lambda", 'Ξ': "Xi", 'Π': "Pi", 'Σ': "Sigma", 'Φ': "Phi", 'Ψ': "Psi", 'Ω': "Omega",
	'ℓ': "ell", '∇': "grad", '∂': "d",
}

// identifier spells a name of a program as a Go identifier: letters and digits
// stay, Greek is spelled out, what stands between parts becomes a capital, and
// an unnamed value %12 is t12.
func identifier(name string, exported bool) string {
	var b strings.Builder
	upper := exported
	write := func(s string) {
		if b.Len() == 0 && unicode.IsDigit(rune(s[0])) {
			b.WriteString("t")
		}
		if upper {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
		b.WriteString(s)
		upper = false
	}
	for _, r := range name {
		switch {
		case r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			write(string(r))
		case greek[r] != "":
			write(greek[r])
			upper = true
		case r == '%' && b.Len() == 0:
			write("t")
		case '₀' <= r && r <= '₉':
			write(string('0' + r - '₀'))
		default:
			upper = b.Len() > 0 || exported
		}
	}
	if b.Len() == 0 {
		write("x")
	}
	return b.String()
}

// reserved are the names that no variable of a kernel may take.
var reserved = map[string]bool{
	"F": true, "num": true, "math": true, "max": true, "min": true, "clear": true, "len": true, "cap": true,
	"int": true, "uint": true, "bool": true, "float32": true, "float64": true, "true": true, "false": true,
	"nil": true, "any": true, "append": true, "copy": true, "make": true, "new": true, "panic": true, "iota": true,
	"kern": true, "error": true, "string": true, "byte": true, "rune": true,
	"complex": true, "real": true, "imag": true, "close": true, "delete": true, "print": true, "println": true,
	"recover": true, "work": true, "rows": true, "flags": true, "rowFlags": true, "counts": true, "c": true,
}

// A scope gives out names; what was given out since mark can be taken back.
type scope struct {
	used  map[string]bool
	stack []string
}

func newScope() *scope { return &scope{used: map[string]bool{}} }

// name returns an identifier for name that is free.
func (s *scope) name(name string, exported bool) string {
	base := identifier(name, exported)
	out := base
	for n := 2; s.used[out] || reserved[out] || token.IsKeyword(out); n++ {
		out = fmt.Sprintf("%s%d", base, n)
		if unicode.IsDigit(rune(base[len(base)-1])) {
			out = fmt.Sprintf("%s_%d", base, n)
		}
	}
	s.used[out] = true
	s.stack = append(s.stack, out)
	return out
}

func (s *scope) mark() int { return len(s.stack) }

func (s *scope) release(mark int) {
	for _, n := range s.stack[mark:] {
		delete(s.used, n)
	}
	s.stack = s.stack[:mark]
}
