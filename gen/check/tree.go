// Package check finds out what a page's names mean.
//
// It takes the trees that package notation read, gathers all units of all
// pages, and instantiates one unit at a time: a rule with its front, a formula
// of knobs under the law, a model with its parts, every option with its value.
// The result is a Block: declarations, equations in an order in which they can
// be computed, and the claims about them. The tree is never changed; what is
// derived stands beside it.
package check

import (
	"slices"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
)

// A Tree is all units of all pages.
type Tree struct {
	Units map[string]*notation.Unit
	Order []*notation.Unit // by page, then by place

	whole *Tree                       // of a closure: the tree that it was taken from
	words map[*notation.Unit][]string // that stand in a unit, where they were asked for
}

// Collect gathers the units of pages.
func Collect(files []*notation.File) (*Tree, diag.List) {
	var ds diag.List
	t := &Tree{Units: map[string]*notation.Unit{}}
	ids := map[string]*notation.Unit{}
	for _, f := range files {
		for _, u := range f.Units {
			name := u.Name.Text
			if old := t.Units[name]; old != nil {
				ds.Errorf(diag.DuplicateName, u.Name.Span, "%s is defined twice", name).
					See(old.Name.Span, "first defined here").Hint("a name is defined once in a project and the library that it stands on: give one of them another name")
				continue
			}
			place := placeOf(u)
			if old := ids[place]; old != nil {
				ds.Errorf(diag.ReservedName, u.Name.Span, "%s and %s are both emitted as %s", name, old.Name.Text, place).
					See(old.Name.Span, "the other one").Hint("rename one of them")
				continue
			}
			reason := reserved(ID(name))
			if reason == "" && slices.Contains(importedWords, strings.TrimPrefix(place, "package ")) && strings.HasPrefix(place, "package ") {
				reason = "generated code imports another package of this name"
			}
			if reason != "" {
				ds.Errorf(diag.ReservedName, u.Name.Span, "%s cannot be emitted: %s", name, reason).Hint("choose another name")
				continue
			}
			t.Units[name], ids[place] = u, u
			t.Order = append(t.Order, u)
		}
	}
	return t, ds
}

// placeOf is what a unit is emitted as: a package, whose name is one word, or a file.
func placeOf(u *notation.Unit) string {
	switch u.Kind {
	case notation.RuleUnit, notation.ComposeUnit, notation.ModelUnit, notation.UpdateUnit:
		return "package " + strings.ReplaceAll(ID(u.Name.Text), "_", "")
	}
	return UnitID(u)
}

// UnitID is the stable id of a unit. A function, which leads to no code of its own,
// may differ from an operation in letter case alone: name() is the function, name is NAME.
func UnitID(u *notation.Unit) string {
	if u.Kind == notation.FuncUnit {
		return ID(u.Name.Text) + "()"
	}
	return ID(u.Name.Text)
}

// Kinds returns the units of a kind, in page order.
func (t *Tree) Kinds(k notation.UnitKind) []*notation.Unit {
	return slices.DeleteFunc(slices.Clone(t.Order), func(u *notation.Unit) bool { return u.Kind != k })
}

// ID is the stable id of a unit: snake case, Greek letters as words, such as
// "two_words". What stands in a unit keeps its letters, "two_words.M": b and B
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

var letters = map[rune]string{
	'α': "alpha", 'β': "beta", 'γ': "gamma", 'δ': "delta", 'ε': "epsilon", 'ζ': "zeta", 'η': "eta", 'θ': "theta",
	'ι': "iota", 'κ': "kappa", 'λ': "lambda", 'μ': "mu", 'ν': "nu", 'ξ': "xi", 'π': "pi", 'ρ': "rho", 'σ': "sigma",
	'τ': "tau", 'υ': "upsilon", 'φ': "phi", 'χ': "chi", 'ψ': "psi", 'ω': "omega", 'Γ': "Gamma", 'Δ': "Delta",
	'Θ': "Theta", 'Λ': "Lambda", 'Ξ': "Xi", 'Π': "Pi", 'Σ': "Sigma", 'Φ': "Phi", 'Ψ': "Psi", 'Ω': "Omega", 'ℓ': "ell",
	'⁰': "_init", '°': "_snap",
}

// ASCII spells a name in ASCII: ρ is rho, λ₁ is lambda_1, S⁰ is S_init, and the
// member M[k] of a family is M_k.
func ASCII(name string) string {
	var b strings.Builder
	for _, r := range name {
		switch {
		case letters[r] != "":
			b.WriteString(letters[r])
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

var goWords = strings.Fields(`break case chan const continue default defer else fallthrough for func go goto if import
 interface map package range return select struct switch type var any bool byte comparable complex64 complex128 error
 float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota
 append cap clear close complex copy delete imag len make max min new panic print println real recover init main`)

var fileWords = strings.Fields(`con prn aux nul com1 com2 com3 com4 lpt1 lpt2 lpt3 internal vendor testdata test`)

// importedWords are the packages that generated code, its tests and the registry
// import: a package of one of these names could not be told from them.
var importedWords = strings.Fields(`block blocktest catalog context cpu fmt formula library lifecycle math module num pulse rand
 registry runtime strings tape tensor testing unsafe update workers`)

// reserved says why an id cannot be a Go name or a file name, or "".
func reserved(id string) string {
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

// manyNames is how many names a hint lists.
const manyNames = 6

// Suggest adds a hint to a message about a name that does not exist: the
// nearest one that does, or all of them if they are few.
func Suggest(d *diag.Diagnostic, name string, names []string) {
	slices.Sort(names)
	if n := Nearest(name, names); n != "" {
		d.Hint("did you mean %s?", n)
	} else if len(names) > 0 && len(names) <= manyNames {
		d.Hint("known here: %s", strings.Join(slices.Compact(names), ", "))
	}
}

// Nearest returns the candidate closest to name, if few of its letters differ,
// or "".
func Nearest(name string, candidates []string) string {
	length := len([]rune(name))
	best, bestD := "", min(2+length/3, length)
	slices.Sort(candidates)
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		d := min(distance([]rune(name), []rune(c)), distance([]rune(ASCII(name)), []rune(ASCII(c))))
		if d < bestD {
			best, bestD = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		last := row[0]
		row[0] = i + 1
		for j, y := range b {
			cost := last
			if x != y {
				cost = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
