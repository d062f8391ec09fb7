package markdown

import (
	"regexp"
	"strings"

	"github.com/nl-hecate/hecate/gen/spec"
)

// names finds the papers of a bibliography by what prose calls them.
type names struct {
	papers map[string]bool // lower case
	words  int             // of the longest name
}

func newNames(bib *spec.Bibliography) names {
	n := names{papers: map[string]bool{}}
	if bib == nil {
		return n
	}
	for _, p := range bib.Papers {
		for _, name := range append([]string{p.Key}, p.Names...) {
			name = strings.ToLower(strings.Join(strings.Fields(name), " "))
			n.papers[name] = true
			n.words = max(n.words, strings.Count(name, " ")+1)
		}
	}
	return n
}

var capitalised = regexp.MustCompile(`^[A-Z][A-Za-z0-9_-]*`)

// at returns the longest name that begins at the offset, with a capital.
func (n names) at(l string, start int) (name string, end int, ok bool) {
	m := capitalised.FindString(l[start:])
	if m == "" {
		return "", 0, false
	}
	end = start + len(m)
	for i := 0; i < n.words; i++ {
		if n.papers[strings.ToLower(l[start:end])] {
			name, ok = l[start:end], true
		}
		next := len(wordAt(l, min(len(l), end+1)))
		if end >= len(l) || l[end] != ' ' || next == 0 || ok && !n.papers[strings.ToLower(l[start:end+1+next])] {
			break
		}
		end += 1 + next
	}
	return name, start + len(name), ok
}
