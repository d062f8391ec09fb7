package parser

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/source"
)

// The formatter prints every logical line from its tree, so that there is one spelling, and
// keeps what the tree does not have: blank lines, comments and the line breaks of the author.
// The new place of a break is found by the names around it: names are the same in both
// spellings and in the same order, and between two names the signs are counted.

// Format returns the canonical spelling of a block. A block with errors is
// returned as it is.
func Format(text string, style notation.Style) (string, diag.List) {
	return FormatInput(Input{Text: text}, style)
}

// FormatInput is Format for a block whose place and surroundings are known.
func FormatInput(in Input, style notation.Style) (string, diag.List) {
	var diags diag.List
	if in.File == nil {
		in.File = source.NewFile("", in.Text)
		in.Offset = nil
	}
	lines := scan(&in, &diags)
	all := joinLines(lines)
	known := map[string]bool{}
	declared(all, known)
	b := newBody(&in, known, &diags)
	b.halves = true
	for _, l := range all {
		b.line(l)
	}
	if diags.HasErrors() {
		return in.Text, diags
	}
	f := &formatter{style: style, lines: lines}
	for _, it := range b.items {
		f.item(it)
	}
	f.indent = ""
	f.gap(len(lines))
	return f.text(strings.HasSuffix(in.Text, "\n")), diags
}

// An outLine is a line of the result; code is empty for a comment alone.
type outLine struct {
	code, comment string
}

type formatter struct {
	style  notation.Style
	lines  []*physical
	done   int // physical lines that are written
	indent string
	out    []outLine
}

// gap copies the blank and comment lines up to a physical line.
func (f *formatter) gap(to int) {
	for ; f.done < to; f.done++ {
		f.out = append(f.out, outLine{"", indented(f.lines[f.done].comment, f.indent)})
	}
}

// item writes one logical line with its breaks and comments.
func (f *formatter) item(it item) {
	f.indent = ""
	if it.deep {
		f.indent = "  "
	}
	f.gap(it.line.from)
	pieces := f.pieces(it.line, notation.PrintLine(it.node, it.line.opens(), f.style))
	last := 0
	for i, piece := range pieces {
		if piece != "" {
			last = i
		}
	}
	for i, l := range f.lines[it.line.from:it.line.to] {
		lead := f.indent
		if i > 0 && i <= last {
			lead += "  "
		}
		code := ""
		if piece := pieces[i]; piece != "" {
			code = lead + piece
		}
		if code == "" && len(l.toks) > 0 && l.comment == "" {
			continue
		}
		if code == "" {
			f.out = append(f.out, outLine{"", indented(l.comment, lead)})
			continue
		}
		f.out = append(f.out, outLine{code, l.comment})
	}
	f.done = it.line.to
}

// indented indents a comment that is alone on its line.
func indented(comment, indent string) string {
	if comment == "" {
		return ""
	}
	return indent + comment
}

// pieces cuts the canonical text where the author broke the line. There is
// one piece per physical line; those of lines without tokens are empty.
func (f *formatter) pieces(l *logical, text string) []string {
	lines := f.lines[l.from:l.to]
	pieces := make([]string, len(lines))
	cuts := breaks(lines, text)
	from, at := 0, 0
	for i, line := range lines {
		if i == 0 || len(line.toks) == 0 {
			continue
		}
		cut := cuts[i]
		if cut <= from {
			continue
		}
		pieces[at] = strings.TrimRight(text[from:cut], " ")
		from, at = cut, i
	}
	pieces[at] = text[from:]
	return pieces
}

// breaks finds, for each physical line, where in the canonical text it starts;
// 0 where that cannot be told.
func breaks(lines []*physical, text string) []int {
	cuts := make([]int, len(lines))
	if len(lines) == 1 {
		return cuts
	}
	var old []token
	starts := make([]int, len(lines)) // index into old
	for i, l := range lines {
		starts[i] = len(old)
		old = append(old, l.toks...)
	}
	var ignored diag.List
	in := &Input{Text: text, File: source.NewFile("", text)}
	now := scan(in, &ignored)[0].toks
	oldUnits, newUnits := units(old), units(now)
	oldMarks, newMarks := marks(old), marks(now)
	for i, l := range lines {
		if len(l.toks) == 0 || i == 0 {
			continue
		}
		k, found := slices.BinarySearch(oldUnits, starts[i])
		switch {
		case found && len(oldUnits) == len(newUnits):
			cuts[i] = cutAt(now, newUnits[k])
		case len(oldMarks) == len(newMarks):
			cuts[i] = cutAt(now, place(starts[i], oldMarks, newMarks))
		}
	}
	return cuts
}

// units returns the indices at which the signs start that are one in Unicode
// and several in ASCII: `norm(` is ‖, `^2` is ², `(1/2)` is ½.
func units(toks []token) []int {
	var out []int
	for i := 0; i < len(toks); {
		out = append(out, i)
		i += unitLength(toks[i:])
	}
	return out
}

func unitLength(toks []token) int {
	t := toks[0]
	switch {
	case len(toks) > 1 && (t.name("norm") || t.name("abs") || t.name("inner")) && toks[1].is("(") && !toks[1].space:
		return 2
	case len(toks) > 1 && t.is("^") && toks[1].kind == tNumber:
		return 2
	case len(toks) > 4 && t.is("(") && toks[1].text == "1" && toks[2].is("/") && toks[3].text == "2" && toks[4].is(")"):
		return 5
	}
	return 1
}

// marks returns the indices of the names, between two ends.
func marks(toks []token) []int {
	out := []int{-1}
	for i, t := range toks {
		switch t.kind {
		case tWord, tString, tCite:
			out = append(out, i)
		case tName:
			if !(i > 0 && isSymbolName(toks[i-1], t)) {
				out = append(out, i)
			}
		}
	}
	return append(out, len(toks))
}

// isSymbolName reports whether a name is the ASCII spelling of a sign.
func isSymbolName(before, t token) bool {
	switch t.text {
	case "norm", "abs", "inner":
		return true
	case "R", "S", "Simplex", "Δ":
		return before.is("∈")
	}
	return false
}

// place returns the new token for the old token at.
func place(at int, oldMarks, newMarks []int) int {
	k, found := slices.BinarySearch(oldMarks, at)
	if !found {
		k--
	}
	before, after := at-oldMarks[k], oldMarks[k+1]-at
	i := newMarks[k] + before
	if oldMarks[k+1]-oldMarks[k] != newMarks[k+1]-newMarks[k] {
		// Signs were added or dropped: keep a break that touches a name.
		switch {
		case before == 0:
			i = newMarks[k]
		case before > 1 && after < before:
			i = max(newMarks[k+1]-after, newMarks[k]+1)
		default:
			i = min(newMarks[k]+before, newMarks[k+1])
		}
	}
	return i
}

// cutAt returns the byte of the nearest place before token i where a line may
// break; 0 if there is none.
func cutAt(now []token, i int) int {
	for i > 0 && i < len(now) && !breakable(now, i) {
		i--
	}
	if i <= 0 || i >= len(now) {
		return 0
	}
	return now[i].pos
}

// breakable reports whether a line may start with token i: what touches the
// token before it stays there, and so does a citation and the body of an each.
func breakable(toks []token, i int) bool {
	before := toks[i-1]
	return toks[i].space && !before.is("@eq") && !(before.is(":") && toks[0].word("each"))
}

// maxAligned is how wide a line may be to have its comment in a column.
const maxAligned = 80

// text joins the lines; comments after neighbouring lines share a column.
func (f *formatter) text(newline bool) string {
	var b strings.Builder
	for i := 0; i < len(f.out); {
		j := i
		column := 0
		for j < len(f.out) && f.out[j].code != "" && f.out[j].comment != "" && width(f.out[j].code) <= maxAligned {
			column = max(column, width(f.out[j].code))
			j++
		}
		for _, l := range f.out[i:max(j, i+1)] {
			b.WriteString(l.code)
			if l.code != "" && l.comment != "" {
				b.WriteString(strings.Repeat(" ", max(column-width(l.code), 0)+2))
			}
			b.WriteString(l.comment + "\n")
		}
		i = max(j, i+1)
	}
	out := strings.TrimRight(b.String(), "\n")
	if newline {
		out += "\n"
	}
	return out
}

// width counts the columns of a line on a screen.
func width(s string) int {
	return utf8.RuneCountInString(s) - strings.Count(s, string(notation.Macron))
}
