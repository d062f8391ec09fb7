package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Place is where something was written: in a file, or on the command line.
type Place struct {
	File      string // or the flag, such as --set
	Line, Col int    // from 1, in characters; 0 on the command line
	Width     int    // characters to point at
	Text      string // the line
}

// A Problem is one thing that is wrong with a configuration.
type Problem struct {
	Place
	Message string
	Hint    string // what to do, may be empty
}

// Problems are all that is wrong, in the order of their places. As an error they
// print one after the other.
type Problems []Problem

func (p Problems) Error() string {
	var words []string
	for _, x := range p {
		words = append(words, x.String())
	}
	return strings.Join(words, "\n")
}

// String is the place and the message, and under them the line with carets.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%s:%d:%d: %s", p.File, p.Line, p.Col, p.Message)
	} else if p.File != "" {
		fmt.Fprintf(&b, "%s: %s", p.File, p.Message)
	} else {
		b.WriteString(p.Message)
	}
	if p.Hint != "" {
		fmt.Fprintf(&b, "; %s", p.Hint)
	}
	if p.Line > 0 && p.Text != "" {
		const tab = "    "
		runes := []rune(p.Text)
		at := min(p.Col-1, len(runes))
		pad := utf8.RuneCountInString(strings.ReplaceAll(string(runes[:at]), "\t", tab))
		fmt.Fprintf(&b, "\n%5d | %s\n      | %s%s", p.Line, strings.ReplaceAll(p.Text, "\t", tab), strings.Repeat(" ", pad), strings.Repeat("^", max(p.Width, 1)))
	}
	return b.String()
}

// sorted puts problems into the order of their places: files first, then the
// command line in the order given.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return p
}

// near returns the word of a list that a slip of the finger most likely meant,
// or "".
func near(word string, list []string) string {
	best, least := "", 3
	if len(word) <= 4 {
		least = 2
	}
	for _, w := range list {
		if max(len(w)-len(word), len(word)-len(w)) > 3*least { // far, and dear to compare
			continue
		}
		if d := distance(word, w); d < least {
			best, least = w, d
		}
	}
	return best
}

// didYouMean is a hint: the nearest word, or else all of a short list.
func didYouMean(word string, list []string, all string) string {
	if w := near(word, list); w != "" {
		return fmt.Sprintf("did you mean %q?", w)
	}
	if all == "" || len(list) == 0 {
		return ""
	}
	return all + strings.Join(list, ", ")
}

// distance counts the characters to add, drop, change or exchange with the
// next, to get from one word to another (Damerau's, without overlaps).
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range y {
		d[0][j+1] = j + 1
	}
	for i := range x {
		for j := range y {
			change := d[i][j]
			if x[i] != y[j] {
				change++
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, change)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}
