// Package spec holds what is written on a specification page: its contract
// header, its status, its blocks, what it cites, which pages it refers to and
// which declarations its pseudo-code makes. It is data only: gen/markdown
// fills it, gen/inspect resolves and prints it, and everything after reads it.
//
// Every item carries the span of the bytes that say it, so that a message
// about a page can always point at the page.
package spec

import (
	"slices"
	"sort"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// A Page is one markdown file of a tree of specifications, ours or not.
type Page struct {
	File         *source.File
	Title        string // of the first heading, markup removed
	TitleSpan    source.Span
	Status       Status      // the strongest one on the page
	Notes        []Status    // every status block quote, in order
	Header       *Contract   // nil where the page has none
	ExtraHeaders []*Contract // second and further headers; each one is an error
	Blocks       []*Block    // every fence, in order
	Citations    []Citation
	Refs         []Ref
	Outline      []Entry
}

// Ours reports whether the page is source for the compiler: it has at least
// one hecate block that is not an example.
func (p *Page) Ours() bool {
	return slices.ContainsFunc(p.Blocks, func(b *Block) bool { return b.IsHecate && !b.IsExample })
}

// Emits reports whether the page leads to generated code: an archived or
// superseded page may be cited but emits nothing.
func (p *Page) Emits() bool {
	return p.Ours() && p.Status.Kind != Archived && p.Status.Kind != Superseded
}

// A StatusKind says whether a page is still in force.
type StatusKind int

const (
	_ StatusKind = iota
	Active
	Updated
	Superseded
	Archived
)

func (k StatusKind) String() string {
	return [...]string{"invalid", "active", "updated", "superseded", "archived"}[k]
}

// A Status is a block quote that opens with a status word. An active page
// needs none; its Span is then zero.
type Status struct {
	Kind StatusKind
	Text string // first line of the quote, markup removed
	Span source.Span
}

// A Block is one fenced block.
type Block struct {
	Info      string // the info string as written
	Lang      string // its first word
	Text      string // the content, indentation of the fence stripped, lines ended by \n
	Lines     []Line // the place of each line of Text in the file
	Span      source.Span
	InfoSpan  source.Span
	Section   string // heading above the block
	IsHecate  bool   // the first word of Info is hecate
	IsExample bool   // the info string is "hecate example"
	Closed    bool   // false where the page ends inside the fence
	file      *source.File
}

// Fence is the first word of the info string of a block that is compiled.
const Fence = "hecate"

// NewBlock returns a block of the file with the spans and words of its info
// string worked out.
func NewBlock(f *source.File, info string) *Block {
	b := &Block{Info: info, file: f}
	words := strings.Fields(info)
	if len(words) > 0 {
		b.Lang = words[0]
	}
	b.IsHecate = b.Lang == Fence
	b.IsExample = b.IsHecate && len(words) > 1 && words[1] == "example"
	return b
}

// A Line is the place of one line of a block's text in the file.
type Line struct {
	Start  int // offset in Block.Text
	Offset int // offset in the file
	Pad    int // columns at the start of the line that are the rest of a tab
}

// FileOffset maps an offset in Text to the offset in the file. An offset
// outside Text is moved to its nearest end.
func (b *Block) FileOffset(offset int) int {
	if len(b.Lines) == 0 {
		return b.Span.Start
	}
	offset = max(0, min(offset, len(b.Text)))
	i := sort.Search(len(b.Lines), func(i int) bool { return b.Lines[i].Start > offset }) - 1
	l := b.Lines[max(i, 0)]
	return l.Offset + max(0, offset-l.Start-l.Pad)
}

// FileSpan maps a range of Text to a span of the file. The end is mapped from
// the last byte inside, so that it never runs into the next line's indent.
func (b *Block) FileSpan(start, end int) source.Span {
	s := source.Span{File: b.file, Start: min(b.FileOffset(start), len(b.file.Text))}
	s.End = s.Start
	if end = min(end, len(b.Text)); end > start {
		s.End = min(b.FileOffset(end-1)+1, len(b.file.Text))
	}
	return s
}

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
