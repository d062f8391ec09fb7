package clike

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/ident"
)

// A Piece is a letter, digit or spelled symbol of a name.
type Piece struct {
	Text  string
	Apart bool // a separator is before it
	Greek bool // it spells a symbol
}

// Pieces divides a name of a program into what an identifier can hold: letters
// and digits stay, Greek is spelled out, a subscript becomes a digit, anything
// else separates. An unnamed value %12 begins with t, as does every name that
// would begin with a digit. There is at least one piece.
func Pieces(name string) []Piece {
	var out []Piece
	apart := false
	add := func(text string, greek bool) {
		if len(out) == 0 && unicode.IsDigit(rune(text[0])) {
			out = append(out, Piece{Text: "t"})
		}
		out = append(out, Piece{text, apart && len(out) > 0, greek})
		apart = false
	}
	for _, r := range name {
		switch {
		case r < 128 && (unicode.IsLetter(r) || unicode.IsDigit(r)):
			add(string(r), false)
		case ident.Greek[r] != "":
			add(ident.Greek[r], true)
		case r == '%' && len(out) == 0:
			add("t", false)
		case '₀' <= r && r <= '₉':
			add(string('0'+r-'₀'), false)
		default:
			apart = true
		}
	}
	if len(out) == 0 {
		add("x", false)
	}
	return out
}

// Underscored spells a name as identifiers of C are spelled: a separator becomes
// an underscore, except after the t of an unnamed value.
func Underscored(name string) string {
	var b strings.Builder
	for _, p := range Pieces(name) {
		if p.Apart && b.String() != "t" {
			b.WriteByte('_')
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// Words is the set of the words of a text.
func Words(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(text) {
		out[w] = true
	}
	return out
}

// ReservedInC are the keywords of C and C++, which no variable may be called.
const ReservedInC = `alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
	char32_t class compl const const_cast constexpr continue decltype default delete do double dynamic_cast else enum
	explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
	nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof
	static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
	union unsigned using virtual void volatile wchar_t while xor xor_eq concept restrict `

// A Scope holds the identifiers that are in use at a point of the text.
type Scope struct {
	reserved func(string) bool
	used     map[string]bool
	stack    []string
}

// NewScope is a scope without identifiers, for a language with reserved words.
func NewScope(reserved func(string) bool) *Scope {
	return &Scope{reserved: reserved, used: map[string]bool{}}
}

// Reserve takes identifiers for good.
func (s *Scope) Reserve(ids ...string) {
	for _, id := range ids {
		s.used[id] = true
	}
}

// Taken reports whether an identifier is in use or reserved.
func (s *Scope) Taken(id string) bool { return s.used[id] || s.reserved(id) }

// Free returns base, or base with the first number that makes it free.
func (s *Scope) Free(base string, numbered func(base string, n int) string) string {
	out := base
	for n := 2; s.Taken(out); n++ {
		out = numbered(base, n)
	}
	return out
}

// Take takes an identifier until a mark before it is released.
func (s *Scope) Take(id string) string {
	s.used[id] = true
	s.stack = append(s.stack, id)
	return id
}

// Name takes a free identifier for a name, spelled as in C.
func (s *Scope) Name(name string) string { return s.Take(s.Free(Underscored(name), Numbered)) }

// Keep is Name for an identifier that no mark releases; Drop does.
func (s *Scope) Keep(name string) string {
	out := s.Free(Underscored(name), Numbered)
	s.used[out] = true
	return out
}

// Numbered is base_n.
func Numbered(base string, n int) string { return fmt.Sprintf("%s_%d", base, n) }

// Mark is the number of identifiers taken so far, for Release.
func (s *Scope) Mark() int { return len(s.stack) }

// Release frees the identifiers that were taken after a mark.
func (s *Scope) Release(mark int) {
	s.Drop(s.stack[mark:])
	s.stack = s.stack[:mark]
}

// Drop frees identifiers.
func (s *Scope) Drop(ids []string) {
	for _, id := range ids {
		delete(s.used, id)
	}
}
