package synthetic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A field is a parameter of a kind and its form in text: an integer, a
// list such as 9,60,5, or scales such as 4x64,4x2048, contexts by segment.
type field struct {
	name string
	to   any // *int, *[]int or *[]Scale
}

func (f field) text() string {
	var parts []string
	switch to := f.to.(type) {
	case *int:
		parts = append(parts, strconv.Itoa(*to))
	case *[]int:
		for _, x := range *to {
			parts = append(parts, strconv.Itoa(x))
		}
	case *[]Scale:
		for _, s := range *to {
			parts = append(parts, fmt.Sprintf("%dx%d", s.Contexts, s.Segment))
		}
	default:
		panic(fmt.Sprintf("synthetic: BUG: a parameter is a %T", f.to))
	}
	return strings.Join(parts, ",")
}

// set is the inverse of text.
func (f field) set(text string) error {
	want := "an integer"
	ok := true
	number := func(s string) int {
		x, err := strconv.Atoi(s)
		ok = ok && err == nil
		return x
	}
	switch to := f.to.(type) {
	case *int:
		*to = number(text)
	case *[]int:
		want, *to = "integers with commas between them", nil
		for s := range strings.SplitSeq(text, ",") {
			*to = append(*to, number(s))
		}
	case *[]Scale:
		want, *to = "scales as 4x64,4x2048, contexts by segment", nil
		for s := range strings.SplitSeq(text, ",") {
			contexts, segment, _ := strings.Cut(s, "x")
			*to = append(*to, Scale{number(contexts), number(segment)})
		}
	default:
		panic(fmt.Sprintf("synthetic: BUG: a parameter is a %T", f.to))
	}
	if !ok {
		return fmt.Errorf("%s is %q, want %s", f.name, text, want)
	}
	return nil
}

// write is the text of a kind.
func write(name string, fields []field) string {
	for _, f := range fields {
		name += " " + f.name + "=" + f.text()
	}
	return name
}

// known makes every kind from its defaults and what set writes into its fields.
var known = []struct {
	name string
	make func(set func([]field) error) (Kind, error)
}{
	{"mqar", from(MQAR{Keys: 16, Values: 16, Fillers: 4, Pairs: 4, Queries: 4, Gap: 8})},
	{"copy", from(Copy{Symbols: 8, Items: 4, Slots: 16})},
	{"needle", from(Needle{Symbols: 8, Digits: 2, Distances: []int{8, 32}, Fillers: 8, Lead: 8})},
	{"dyck", from(Dyck{Types: 4, Depth: 8, Tokens: 64, Open: 500})},
	{"piecewise", from(TwoTimescales())},
}

// from makes a kind from defaults, which it does not change.
func from[K Kind, P interface {
	*K
	fields() []field
}](defaults K) func(set func([]field) error) (Kind, error) {
	return func(set func([]field) error) (Kind, error) {
		k := defaults
		err := set(P(&k).fields())
		return k, err
	}
}

// Parse is the inverse of a Kind's String: a name and parameters with spaces
// between them, in any order; those left out have the defaults of the kind, and no text
// at all is copy. The error names what is
// not known, twice, not a number, or refused by Check.
func Parse(text string) (Kind, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		words = []string{"copy"}
	}
	var names []string
	for _, k := range known {
		names = append(names, k.name)
		if k.name != words[0] {
			continue
		}
		kind, err := k.make(func(fields []field) error { return assign(fields, words[1:]) })
		if err == nil {
			err = kind.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("synthetic: %s: %w", k.name, err)
		}
		return kind, nil
	}
	return nil, fmt.Errorf("synthetic: no kind %q; there are %s", words[0], strings.Join(names, ", "))
}

// assign sets parameters from name=value.
func assign(fields []field, words []string) error {
	var names, seen []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		i := slices.Index(names, name)
		if i < 0 {
			return fmt.Errorf("no parameter %q; there are %s", name, strings.Join(names, ", "))
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("%s is there twice", name)
		}
		seen = append(seen, name)
		if err := fields[i].set(value); err != nil {
			return err
		}
	}
	return nil
}
