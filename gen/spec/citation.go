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
	Unverifiable               // a paper whose text nobody could read, with the reason in the bibliography
	NoEdition                  // a known paper in an edition that the bibliography does not list
	Absent                     // the paper has no equation of that number
	Backwards                  // a range that ends before it begins
)

func (s CitationState) String() string {
	return [...]string{"invalid", "no paper", "unknown paper", "no number", "equation not read", "read", "paper",
		"unverifiable", "no such edition", "no such equation", "range backwards"}[s]
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
	return c.State == Read || c.State == NotRead || c.State == WholePaper || c.State == Unverifiable && c.Eq != "?"
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

// A Paper is one row of the bibliography page: a paper in one edition, since editions may
// number their equations differently.
type Paper struct {
	Key     string   // key, or key@edition for an edition beside the first
	Names   []string // other names, "Name"
	Title   string
	ArXiv   string  // 2501.00663, without the version
	Version string  // v1
	Has     []Range // the equations of this edition; empty where nobody has listed them
	Read    []Range
	Date    string // when they were read
	Unread  string // why nobody can read it; then nothing of it is read
	Span    source.Span
}

// An EquationRow is one row of a table of a paper's equations.
type EquationRow struct {
	Paper, Eq, EqEnd string
	Says             string // the equation in the notation of the pages, or in words
	NoPage           string // why no page computes it; "" where one should
	Span             source.Span
}

// Covers reports whether the row speaks of any of the equations from eq to end.
func (r *EquationRow) Covers(eq, end string) bool {
	a, b, ok := bounds(r.Eq, r.EqEnd)
	c, d, ok2 := bounds(eq, end)
	if !ok || !ok2 {
		return strings.EqualFold(r.Eq, eq)
	}
	return a <= d && c <= b
}

// bounds are the numbers of a range of equations.
func bounds(eq, end string) (from, to int, ok bool) {
	from, err := strconv.Atoi(eq)
	to, err2 := strconv.Atoi(cmp.Or(end, eq))
	return from, to, err == nil && err2 == nil
}

// A Range is a range of equations that somebody read, both ends included.
// Lettered or non-numeric items (table1) are ranges of one.
type Range struct {
	From, To int
	Item     string // set instead of From and To for table1, def2, 13a; or "all"
}

// Covers reports whether the equation is in one of the ranges that were read.
func (p *Paper) Covers(eq string) bool { return covers(p.Read, eq) }

// HasEquation reports whether this edition has an equation of that number; where nobody has listed
// its equations, it may.
func (p *Paper) HasEquation(eq string) bool { return len(p.Has) == 0 || covers(p.Has, eq) }

func covers(ranges []Range, eq string) bool {
	n, err := strconv.ParseUint(eq, 10, 31)
	return slices.ContainsFunc(ranges, func(r Range) bool {
		return r.Item == "all" || r.Item != "" && strings.EqualFold(r.Item, eq) || err == nil && r.Item == "" && r.From <= int(n) && int(n) <= r.To
	})
}

// Numbers are the equations of an edition as the bibliography lists them: "1-35, alg1".
func (p *Paper) Numbers() string { return numbers(p.Has) }

// ReadNumbers are the equations that were read.
func (p *Paper) ReadNumbers() string { return numbers(p.Read) }

func numbers(ranges []Range) string {
	var out []string
	for _, r := range ranges {
		switch {
		case r.Item != "":
			out = append(out, r.Item)
		case r.From == r.To:
			out = append(out, strconv.Itoa(r.From))
		default:
			out = append(out, strconv.Itoa(r.From)+"-"+strconv.Itoa(r.To))
		}
	}
	return strings.Join(out, ", ")
}

// A Bibliography is the page papers.md read as tables.
type Bibliography struct {
	File   *source.File
	Papers []*Paper
	Rows   []*EquationRow
}

// ByKey returns the paper with that key, or nil. The version may be added to the key of
// the first edition: key@v1. A nil Bibliography is empty.
func (b *Bibliography) ByKey(key string) *Paper {
	name, edition, _ := strings.Cut(key, "@")
	return b.find(func(p *Paper) bool { return p.Key == key || edition != "" && p.Key == name && p.Version == edition })
}

// Editions returns the rows of a paper, whose key is without an edition.
func (b *Bibliography) Editions(key string) []*Paper {
	var out []*Paper
	if b != nil {
		for _, p := range b.Papers {
			if name, _, _ := strings.Cut(p.Key, "@"); name == key {
				out = append(out, p)
			}
		}
	}
	return out
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
