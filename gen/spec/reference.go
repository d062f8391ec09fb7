package spec

import "github.com/nl-hecate/hecate/gen/source"

// A RefKind says how a page names another page.
type RefKind int

const (
	_         RefKind = iota
	RefPath           // infrastructure/00_tape.md
	RefName           // 00_tape.md
	RefLink           // [the tape](00_tape.md)
	RefNumber         // Spec 17
)

func (k RefKind) String() string {
	return [...]string{"invalid", "path", "name", "link", "number"}[k]
}

// A RefState says what a reference leads to.
type RefState int

const (
	RefUnresolved RefState = iota // nobody has looked yet
	RefResolved
	RefAmbiguous
	RefDangling
)

func (s RefState) String() string {
	return [...]string{"unresolved", "resolved", "ambiguous", "dangling"}[s]
}

// A Ref is a mention of another page.
type Ref struct {
	Target     string // as written, fragment removed
	Fragment   string // after #
	Kind       RefKind
	Span       source.Span
	Resolution RefState
	Path       string   // of the page it leads to, where resolved
	Candidates []string // where ambiguous
}
