package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/source"
)

// A CitationState says how far a citation could be followed.
type CitationState int

const (
	_            CitationState = iota
	NoPaper                    // an equation number, and no paper in sight
	UnknownPaper               // a paper that the bibliography page does not list
	NoNumber                   // key#?: the equation exists, nobody has checked its number
	NotRead                    // known paper; the bibliography does not say that anyone read the equation
	Read                       // known paper, equation read
	WholePaper                 // known paper, no equation named
)

func (s CitationState) String() string {
	return [...]string{"invalid", "no paper", "unknown paper", "no number", "equation not read", "read", "paper"}[s]
}

// A Citation is a place where a page names a paper, or an equation, table,
// definition or section of one.
type Citation struct {
	Text      string // as written
	Span      source.Span
	Canonical string // paper:section:eq[-eq], see Canon
	Paper     string // key in the bibliography, or what the page calls the paper
	Section   string // 3.1, C; empty where none is named
	Eq        string // 13, table1, def2, "?"; empty where none is named
	EqEnd     string // end of a range
	State     CitationState
	Implied   bool // the paper was not named beside the equation but taken from the text before it or from Source
	InSource  bool // in the Source field of the header
}

// Resolved reports whether the bibliography knows the paper and the citation
// names something definite in it, read or not.
func (c Citation) Resolved() bool {
	return c.State == Read || c.State == NotRead || c.State == WholePaper
}

// Canon returns the canonical form: "key", "key:3.1",
// "key:3.1:13", "key::8-15", "key::table1". A paper that is not known
// by any name is "?".
func (c Citation) Canon() string {
	s := cmp.Or(c.Paper, "?")
	if c.Section != "" || c.Eq != "" {
		s += ":" + c.Section
	}
	if c.Eq != "" {
		s += ":" + c.Eq
	}
	if c.EqEnd != "" {
		s += "-" + c.EqEnd
	}
	return s
}

// A Paper is one row of the bibliography page.
type Paper struct {
	Key     string
	Names   []string // other names, "Name"
	Title   string
	ArXiv   string // 2501.00663, without the version
	Version string // v1
	Read    []Range
	Span    source.Span
}

// A Range is a range of equations that somebody read, both ends included.
// Lettered or non-numeric items (table1) are ranges of one.
type Range struct {
	From, To int
	Item     string // set instead of From and To for table1, def2, 13a; or "all"
}

// Covers reports whether the equation is in one of the ranges that were read.
func (p *Paper) Covers(eq string) bool {
	n, err := strconv.ParseUint(eq, 10, 31)
	return slices.ContainsFunc(p.Read, func(r Range) bool {
		return r.Item == "all" || r.Item != "" && strings.EqualFold(r.Item, eq) || err == nil && r.Item == "" && r.From <= int(n) && int(n) <= r.To
	})
}

// A Bibliography is the page papers.md read as a table.
type Bibliography struct {
	File   *source.File
	Papers []*Paper
}

// ByKey returns the paper with that key, or nil. A nil Bibliography is empty.
func (b *Bibliography) ByKey(key string) *Paper {
	return b.find(func(p *Paper) bool { return p.Key == key })
}

// ByArXiv returns the paper with that arXiv id (without version), or nil.
func (b *Bibliography) ByArXiv(id string) *Paper {
	return b.find(func(p *Paper) bool { return p.ArXiv == id })
}

// ByName returns the paper whose key or one of whose names is that word,
// ignoring case, or nil.
func (b *Bibliography) ByName(name string) *Paper {
	return b.find(func(p *Paper) bool {
		return strings.EqualFold(p.Key, name) || slices.ContainsFunc(p.Names, func(n string) bool { return strings.EqualFold(n, name) })
	})
}

func (b *Bibliography) find(f func(*Paper) bool) *Paper {
	if b != nil {
		if i := slices.IndexFunc(b.Papers, f); i >= 0 {
			return b.Papers[i]
		}
	}
	return nil
}
