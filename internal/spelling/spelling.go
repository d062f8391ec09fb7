// Package spelling finds the word that a misspelt one was meant to be.
//
// The distance between two words is Damerau and Levenshtein's in its restricted
// form (optimal string alignment; Boytsov, "Indexing methods for approximate
// dictionary searching", 2011): the least number of letters to insert, delete,
// replace or swap with their neighbour, where no letter is edited twice. It is
// computed by dynamic programming over prefixes in O(len(a)·len(b)).
package spelling

import "strings"

// Distance returns the number of edits between two words, upper and lower case being
// different letters.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	d := make([][]int, len(x)+1)
	for i := range d {
		d[i] = make([]int, len(y)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := range x {
		for j := range y {
			replace := d[i][j]
			if x[i] != y[j] {
				replace++
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, replace)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(x)][len(y)]
}

// Nearest returns the candidate with the smallest distance to word, the first of
// several, or "" where none is close: at most one edit in three letters and one
// more, and fewer than the word has letters. A candidate that differs in case
// alone is always close. Words are also compared in the other spellings, if any.
func Nearest(word string, candidates []string, spellings ...func(string) string) string {
	n := len([]rune(word))
	best, limit := "", min(2+n/3, n)
	for _, c := range candidates {
		if strings.EqualFold(c, word) {
			return c
		}
		d := Distance(word, c)
		for _, spell := range spellings {
			d = min(d, Distance(spell(word), spell(c)))
		}
		if d < limit {
			best, limit = c, d
		}
	}
	return best
}
