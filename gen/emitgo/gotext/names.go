package gotext

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

// Identifier spells a name of a program as a Go Identifier: letters and digits
// stay, Greek is spelled out, a letter after a separator becomes a capital, and
// an unnamed value %12 is t12.
func Identifier(name string, exported bool) string {
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

// A Scope holds the names that are in use at a point of the text.
type Scope struct {
	used  map[string]bool
	stack []string
}

// NewScope is a scope without names.
func NewScope() *Scope { return &Scope{used: map[string]bool{}} }

// Reserve takes identifiers that no name may become.
func (s *Scope) Reserve(ids ...string) {
	for _, id := range ids {
		s.used[id] = true
	}
}

// Name returns an identifier for a name that is free, and takes it.
func (s *Scope) Name(name string, exported bool) string {
	base := Identifier(name, exported)
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

// Mark is the number of names taken so far, for Release.
func (s *Scope) Mark() int { return len(s.stack) }

// Release frees the names that were taken after a mark.
func (s *Scope) Release(mark int) {
	for _, n := range s.stack[mark:] {
		delete(s.used, n)
	}
	s.stack = s.stack[:mark]
}

// LowerFirst is a name with a small first letter.
func LowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
