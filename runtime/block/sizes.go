package block

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Sizes are the sizes of a model by name, parts under their names with a dot:
// d, V, attention.H, memory.d_k. Get marks a name as read, so that Unread
// finds the ones that mean nothing.
type Sizes struct {
	prefix   string
	vals     map[string]int
	read     map[string]bool
	errs     *[]error
	defaults map[string]int
	used     map[string]int
	split    int                   // divides sizes that missing returns
	missing  func(name string) int // the size of a name, without the part it belongs to, that is not set; −1: an error
}

// NewSizes returns the sizes in vals.
func NewSizes(vals map[string]int) Sizes {
	return Sizes{vals: vals, read: map[string]bool{}, errs: new([]error), used: map[string]int{}, missing: func(string) int { return -1 }}
}

// Else returns sizes that take sizes that are not set from f: the size of a name, without
// the part that it belongs to, or −1 for none.
func (s Sizes) Else(f func(name string) int) Sizes {
	s.missing = f
	return s
}

// Split returns sizes that divide the result of Else by n: of a rule in n heads, whose sizes
// are those of one head.
func (s Sizes) Split(n int) Sizes {
	s.split = n
	return s
}

// Used returns every size that was asked for, under its full name, and what it is.
func (s Sizes) Used() map[string]int { return s.used }

// Part returns the sizes of a part.
func (s Sizes) Part(name string) Sizes {
	s.prefix += name + "."
	return s
}

// Default returns sizes with a default of their own for one name: what a
// formula sets, such as SlidingWindow(w = 64).
func (s Sizes) Default(name string, v int) Sizes {
	s.defaults = maps.Clone(s.defaults)
	if s.defaults == nil {
		s.defaults = map[string]int{}
	}
	s.defaults[s.prefix+name] = v
	return s
}

// Get returns the size of a name. A size that is missing, and has no default
// (a negative one), is remembered as an error, as is one below least.
func (s Sizes) Get(name string, byDefault, least int) (got int) {
	full := s.prefix + name
	s.read[full] = true
	v, ok := s.vals[full]
	if all := ofAll(full); !ok && all != full {
		s.read[all] = true
		v, ok = s.vals[all]
	}
	if d, set := s.defaults[full]; set {
		byDefault = d
	}
	if !ok && byDefault < 0 {
		byDefault = s.missing(name)
		if s.split > 1 && byDefault > 0 {
			byDefault = max(byDefault/s.split, 1)
		}
	}
	defer func() { s.used[full] = got }()
	switch {
	case !ok && byDefault < 0:
		*s.errs = append(*s.errs, fmt.Errorf("size %s is not given", full))
		return least
	case !ok:
		v = byDefault
	}
	if v < least {
		*s.errs = append(*s.errs, fmt.Errorf("size %s is %d, must be at least %d", full, v, least))
		return least
	}
	return v
}

// ofAll is the name of a size for all parts of a list: memory.d_k of memory.2.d_k.
func ofAll(name string) string {
	words := strings.Split(name, ".")
	words = slices.DeleteFunc(words, func(w string) bool { return w != "" && strings.Trim(w, "0123456789") == "" })
	return strings.Join(words, ".")
}

// AtLeast remembers an error where a number that is not in the table is below
// its least.
func (s Sizes) AtLeast(name string, got, least int) {
	if got < least {
		*s.errs = append(*s.errs, fmt.Errorf("%s%s has %d parts, must have at least %d", s.prefix, name, got, least))
	}
}

// Fixed is Get for a size that the composition decides: given, it must agree.
func (s Sizes) Fixed(name string, want int) int {
	full := s.prefix + name
	s.read[full] = true
	if v, ok := s.vals[full]; ok && v != want {
		*s.errs = append(*s.errs, fmt.Errorf("size %s is %d, but the composition makes it %d", full, v, want))
	}
	return want
}

// Divide returns whole / part for an axis declared as a product.
func (s Sizes) Divide(whole int, by string, part int) int { return s.DivideBy(whole, 1, by, part) }

// DivideBy returns whole / (times · part) for an axis declared as a product, one of whose
// factors is itself times another size: a head of pairs.
func (s Sizes) DivideBy(whole, times int, by string, part int) int {
	switch {
	case part < 1 || whole%part != 0:
		*s.errs = append(*s.errs, fmt.Errorf("size %s%s is %d and does not divide %d", s.prefix, by, part, whole))
	case whole/part%times != 0:
		*s.errs = append(*s.errs, fmt.Errorf("size %s%s is %d and leaves a width of %d, which is not a multiple of %d", s.prefix, by, part, whole/part, times))
	default:
		return whole / (times * part)
	}
	return 1
}

// Err returns what was wrong with the sizes: missing ones, impossible ones and
// names that no block read.
func (s Sizes) Err() error {
	var lines []string
	for _, e := range *s.errs {
		lines = append(lines, e.Error())
	}
	for _, n := range slices.Sorted(maps.Keys(s.vals)) {
		if !s.read[n] {
			lines = append(lines, fmt.Sprintf("there is no size %s", n))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("sizes: %s", strings.Join(lines, "; "))
}
