package markdown

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/spec"
)

// nearest returns the field name that a misspelt one was meant to be, or "".
func nearest(name string) spec.FieldName {
	best, bestName := 3, spec.FieldName("")
	for _, n := range spec.FieldNames {
		d := distance(strings.ToLower(name), strings.ToLower(string(n)))
		if allowed := min(2, len(n)/3); d <= allowed && d < best {
			best, bestName = d, n
		}
	}
	return bestName
}

// distance counts the letters to insert, delete, change or swap with their
// neighbour to turn a into b.
func distance(a, b string) int {
	if len(a) > 2*len(b)+2 {
		return len(a)
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
