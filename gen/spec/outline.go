package spec

import "github.com/nl-hecate/hecate/gen/source"

// An EntryKind is a kind of pseudo-code declaration. The two spellings of one
// thing (`ENUM: X` and `enum X {`) are one kind.
type EntryKind string

const (
	Enum            EntryKind = "enum"
	Struct          EntryKind = "struct"
	Trait           EntryKind = "trait"
	Impl            EntryKind = "impl"
	Func            EntryKind = "function"
	Type            EntryKind = "type"
	Rule            EntryKind = "rule"
	State           EntryKind = "state"
	Algorithm       EntryKind = "algorithm"
	OuterParams     EntryKind = "outer params"
	Parallelization EntryKind = "parallelization"
	Configuration   EntryKind = "configuration"
	Check           EntryKind = "compile time check"
	Requires        EntryKind = "requires"
	SupportedBy     EntryKind = "supported by"
	Smell           EntryKind = "smell"
	Why             EntryKind = "why"
	Trace           EntryKind = "trace"
	Numbered        EntryKind = "numbered" // LIFETIME n, BUG n, FINDING n …: Name is "BUG 1"
	VJP             EntryKind = "vjp"
)

// An Entry is one declaration found in a fence, whatever the fence's tag.
type Entry struct {
	Kind     EntryKind
	Name     string
	Gloss    string      // the text in brackets after the name of a VJP entry
	Text     string      // the rest of the declaring line or signature, on one line
	TextSpan source.Span // of Text, in a VJP entry
	Members  []Member
	Notes    []Note // comment lines inside a VJP entry
	Comment  bool   // the whole entry is written in comment lines
	Span     source.Span
	Section  string // heading above the entry
}

// A Member is a member of an enum, a field of a struct, a method of a trait,
// a line of a STATE, or one adjoint line of a VJP entry.
type Member struct {
	Name string // of an adjoint line: the text left of the sign
	Op   string // "=" or "+=" of an adjoint line, ":" of a field, "" of a bare name
	Text string // what follows, on one line, without its comment
	Note string // the trailing comment
	Span source.Span
}

// Lifetime returns the lifetime that a STATE line's note ends with, one of
// inner_loop_state, outer_loop_param and context_memory, or "".
func (m Member) Lifetime() string {
	for _, l := range []string{"inner_loop_state", "outer_loop_param", "context_memory"} {
		if hasWord(m.Note, l) || hasWord(m.Text, l) {
			return l
		}
	}
	return ""
}

// A Note is a comment line with its place.
type Note struct {
	Text string
	Span source.Span
}

func hasWord(s, word string) bool {
	for i := 0; i+len(word) <= len(s); i++ {
		if s[i:i+len(word)] == word &&
			(i == 0 || !isWord(s[i-1])) && (i+len(word) == len(s) || !isWord(s[i+len(word)])) {
			return true
		}
	}
	return false
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
