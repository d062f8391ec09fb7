// Package source holds the text of specification files and the positions in them.
//
// A position is a byte offset; line and column are computed from it on
// demand, so that every stage can carry two integers and every message can
// still name the very symbol. Columns count runes from 1, because a page is
// full of ∇ and θ and an editor counts what it shows.
package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// A File is the text of one specification page.
type File struct {
	Path  string // slash-separated, as the user named it
	Text  string // exact bytes, BOM and CRLF included
	lines []int  // byte offset of the start of each line
}

// NewFile returns the file with its line table built.
func NewFile(path, text string) *File {
	f := &File{Path: path, Text: text, lines: []int{0}}
	for i := 0; i < len(text); i++ {
		if text[i] == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	return f
}

// Pos returns the line and the column of a byte offset, both from 1. An
// offset outside the file is moved to its nearest end.
func (f *File) Pos(offset int) (line, col int) {
	offset = max(0, min(offset, len(f.Text)))
	line = sort.SearchInts(f.lines, offset+1)
	return line, utf8.RuneCountInString(f.Text[f.lines[line-1]:offset]) + 1
}

// Lines returns how many lines the file has; a trailing newline opens one more.
func (f *File) Lines() int { return len(f.lines) }

// LineStart returns the byte offset at which a line (from 1) starts.
func (f *File) LineStart(line int) int { return f.lines[max(1, min(line, len(f.lines)))-1] }

// Line returns the text of a line (from 1) without its line ending.
func (f *File) Line(line int) string {
	if line < 1 || line > len(f.lines) {
		return ""
	}
	end := len(f.Text)
	if line < len(f.lines) {
		end = f.lines[line]
	}
	return strings.TrimRight(f.Text[f.lines[line-1]:end], "\r\n")
}

// A Span is a range of bytes in one file. The zero Span is nowhere.
type Span struct {
	File       *File
	Start, End int
}

// IsZero reports whether the span points nowhere.
func (s Span) IsZero() bool { return s.File == nil }

// Text returns the bytes that the span covers.
func (s Span) Text() string {
	if s.File == nil || s.Start < 0 || s.End > len(s.File.Text) || s.Start > s.End {
		return ""
	}
	return s.File.Text[s.Start:s.End]
}

// To returns the span from the start of s to the end of t.
func (s Span) To(t Span) Span {
	if s.File == nil {
		return t
	}
	if t.File != s.File || t.End < s.End {
		return s
	}
	return Span{s.File, s.Start, t.End}
}

// Before reports whether s comes before t in the order of messages: by path,
// then by offset.
func (s Span) Before(t Span) bool {
	if s.File == nil || t.File == nil {
		return s.File == nil && t.File != nil
	}
	if s.File.Path != t.File.Path {
		return s.File.Path < t.File.Path
	}
	return s.Start < t.Start
}

// Where is the span itself: a node that embeds its span has a place by this method.
func (s Span) Where() Span { return s }
