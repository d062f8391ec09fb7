// Package ident turns names of the notation into identifiers.
//
// A page may write ρ, λ₁ or M[k]; packages, files, fields and the stable ids of
// equations are ASCII. The mapping is a transliteration letter by letter, so that
// an identifier depends on its name alone, and two names of one page are told
// apart by the compiler where their identifiers collide.
package ident

import (
	"slices"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/internal/spelling"
)

// ID is the stable id of a unit: snake case, Greek letters as words, such as
// "two_words". Names within a unit keep their letters, "two_words.M": b and B
// are two names.
func ID(name string) string {
	var b strings.Builder
	ascii := ASCII(name)
	runes := []rune(ascii)
	for i, r := range runes {
		if unicode.IsUpper(r) {
			prevLower := i > 0 && (unicode.IsLower(runes[i-1]) || unicode.IsDigit(runes[i-1]))
			nextLower := i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) && runes[i-1] != '_'
			if prevLower || nextLower {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return strings.Trim(strings.ReplaceAll(b.String(), "__", "_"), "_")
}

// Greek maps letters to their names: the ASCII spelling of pages and of identifiers.
var Greek = map[rune]string{
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "epsilon", 'ζ': "zeta", 'η': "eta", 'θ': "theta",
	'ι': "iota", 'κ': "kappa", 'λ': "lambda", 'μ': "mu", 'ν': "nu", 'ξ': "xi", 'π': "pi", 'ρ': "rho", 'σ': "sigma",
	'τ': "tau", 'υ': "upsilon", 'φ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega", 'Γ': "Gamma", 'Δ': "Delta",
	'Θ': "Theta", 'Λ': "Lambda", 'Ξ': "Xi", 'Π': "Pi", 'Σ': "Sigma", 'Φ': "Phi", 'Ψ': "Psi", 'Ω': "Omega", 'ℓ': "ell",
}

// ASCII spells a name in ASCII: ρ is rho, λ₁ is lambda_1, S⁰ is S_init, and the
// member M[k] of a family is M_k.
func ASCII(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case Greek[r] != "":
			b.WriteString(Greek[r])
		case r == '⁰':
			b.WriteString("_init")
		case r == '°':
			b.WriteString("_snap")
		case r >= '₀' && r <= '₉':
			b.WriteString("_" + string('0'+r-'₀'))
		case r == '[':
			b.WriteByte('_')
		case r == ']':
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Nearest returns the candidate closest to a misspelt name, written as it is or in
// ASCII, or "". Of several it returns the first in alphabetical order.
func Nearest(name string, candidates []string) string {
	return spelling.Nearest(name, slices.Sorted(slices.Values(candidates)), ASCII)
}

var goWords = strings.Fields(`break case chan const continue default defer else fallthrough for func go goto if import
 interface map package range return select struct switch type var any bool byte comparable complex64 complex128 error
 float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota
 append cap clear close complex copy delete imag len make max min new panic print println real recover init main`)

var fileWords = strings.Fields(`con prn aux nul com1 com2 com3 com4 lpt1 lpt2 lpt3 internal vendor testdata test`)

// importedWords are the packages that generated code, its tests and the registry
// import: a package of one of these names could not be told from them.
var importedWords = strings.Fields(`block conformance catalog context cpu device fmt formula kern library lifecycle math module num pulse rand
 registry runtime strings tape tensor testing unsafe update workers`)

// Imported reports whether generated code imports a package of this name.
func Imported(pkg string) bool { return slices.Contains(importedWords, pkg) }

// Reserved returns why an id cannot be a Go name or a file name, or "".
func Reserved(id string) string {
	switch {
	case slices.Contains(goWords, id):
		return "it is a word of Go"
	case slices.Contains(fileWords, id):
		return "a file or folder of this name means something else"
	case id == "" || !unicode.IsLetter([]rune(id)[0]):
		return "a name starts with a letter"
	case strings.ContainsFunc(id, func(r rune) bool { return r > 127 || !(r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) }):
		return "it has a character that a file name cannot have"
	}
	return ""
}
