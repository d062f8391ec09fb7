package config

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/internal/spelling"
)

// sectionNames are the tables that a file may have.
func sectionNames() []string {
	var out []string
	for _, s := range sections {
		out = append(out, s.name)
	}
	return out
}

// suggest is the hint for an unknown key.
func suggest(path []string) string {
	var all, own []string
	for _, s := range sections {
		for _, f := range s.fields {
			all = append(all, s.name+"."+f.name)
			if s.name == path[0] {
				own = append(own, f.name)
			}
		}
	}
	if w := near(strings.Join(path, "."), all); w != "" {
		return fmt.Sprintf("did you mean %q?", w)
	}
	for _, w := range all { // the right key in the wrong table
		if _, name, _ := strings.Cut(w, "."); name == path[len(path)-1] {
			return fmt.Sprintf("did you mean %q?", w)
		}
	}
	if len(own) > 0 {
		return fmt.Sprintf("[%s] has %s", path[0], strings.Join(own, ", "))
	}
	if w := near(path[0], sectionNames()); w != "" {
		return "did you mean [" + w + "]?"
	}
	return "the tables are " + strings.Join(sectionNames(), ", ")
}

// near returns the word of a list with the smallest edit distance to a misspelt one,
// or "" if none is near.
func near(word string, list []string) string {
	best, least := "", 3
	if len(word) <= 4 {
		least = 2
	}
	for _, w := range list {
		if d := spelling.Distance(strings.ToLower(word), strings.ToLower(w)); d < least {
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

// DidYouMean is a hint: the nearest name of a list, or all of them.
func DidYouMean(name string, list []string) string {
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	if near(name, list) == "" { // the right word in the wrong part
		for _, w := range list {
			if spelling.Distance(strings.ToLower(last(name)), strings.ToLower(last(w))) <= 1 {
				name = w
			}
		}
	}
	return didYouMean(name, list, "there are ")
}
