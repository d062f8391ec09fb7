package emitcuda

import (
	"fmt"
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

// identifier spells a name of a plan in C++: letters, digits and underscores
// stay, Greek is spelled out, a dot becomes an underscore, and an unnamed value
// %.12 is t12.
func identifier(name string) string {
	var b strings.Builder
	gap := false
	write := func(s string) {
		if b.Len() == 0 && unicode.IsDigit(rune(s[0])) {
			b.WriteString("t")
		}
		if gap && b.Len() > 0 && b.String() != "t" {
			b.WriteByte('_')
		}
		gap = false
		b.WriteString(s)
	}
	for _, r := range name {
		switch {
		case r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			write(string(r))
		case greek[r] != "":
			write(greek[r])
		case r == '%' && b.Len() == 0:
			b.WriteString("t")
		case '₀' <= r && r <= '₉':
			write(string('0' + r - '₀'))
		default:
			gap = true
		}
	}
	if b.Len() == 0 {
		return "x"
	}
	return b.String()
}

// fileName spells a kernel's name in lower case, words apart: StepBackward is
// step_backward.
func fileName(name string) string {
	var b strings.Builder
	runes := []rune(identifier(name))
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if before := runes[i-1]; before != '_' && (!unicode.IsUpper(before) || after) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// reserved are the words that no variable of a kernel may be called: those of
// the language, of the head of every file, and macros of old compilers.
var reserved = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(`alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
		char32_t class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum
		explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
		nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof
		static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
		union unsigned using virtual void volatile wchar_t while xor xor_eq concept
		hecate i64 threadIdx blockIdx blockDim gridDim
		item at points length thread threads row rows col across down dot m0 n0 p0 kk copy live search shared
		linux unix i386 expf logf log1pf expm1f sqrtf tanhf sinf cosf erff fabsf floorf powf`) {
		out[w] = true
	}
	return out
}()

// A scope returns names; those returned since a mark can be taken back.
type scope struct {
	used  map[string]bool
	stack []string
}

func newScope() *scope { return &scope{used: map[string]bool{}} }

// name returns an identifier for name that is free.
func (s *scope) name(name string) string {
	base := identifier(name)
	out := base
	for n := 2; s.used[out] || reserved[out]; n++ {
		out = fmt.Sprintf("%s_%d", base, n)
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

// keep returns a name that no mark takes back; free does.
func (s *scope) keep(name string) string {
	mark := s.mark()
	out := s.name(name)
	s.stack = s.stack[:mark]
	return out
}

func (s *scope) free(names []string) {
	for _, n := range names {
		delete(s.used, n)
	}
}
