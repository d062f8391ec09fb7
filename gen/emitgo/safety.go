package emitgo

import (
	"fmt"
	"go/format"
	"go/token"
	"slices"
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitgo/gotext"
)

// The table of legal combinations becomes types. Each value of a slot is a type
// without data. A slot none of whose values depends on an earlier slot is a
// closed union. A slot with a value that does depend is generic over what it
// depends on: every value of it names the earlier choice, under a constraint
// that is a closed union and whose name is the reason, and a method result
// (retentionOver() S) links it to the choice beside it in a Rule.
// So an illegal combination cannot be named.
//
// A requirement that an earlier slot has of a later one is turned round: the
// later values that do not meet it bar the earlier value. Where a slot that
// others depend on is generic itself, they depend on its kinds, flat types that
// stand for the values, and Rule takes the kind as a further parameter.
//
// What keeps strangers out is not the method, which an embedded value promotes,
// but the union: exact members, or ~struct{ choice }, which only this package
// can write.

// Safety prints the package of the legal combinations: types, a table for
// configurations that are read at run time (package knobs), and the test that compares
// the two over all combinations.
func Safety(h abi.Home, c *abi.Choices) map[string][]byte {
	for _, s := range c.Slots {
		if len(s.Values) == 0 {
			return nil
		}
	}
	e, dir := newSafety(c), h.Folder+"/safety/"
	return map[string][]byte{
		dir + "safety.go":      formatted(e.types()),
		dir + "check.go":       formatted(e.table()),
		dir + "safety_test.go": formatted(e.test()),
	}
}

func formatted(text string) []byte {
	out, err := format.Source([]byte(text))
	if err != nil {
		panic(fmt.Sprintf("emitgo: BUG: %v\n%s", err, text))
	}
	return out
}

// A safetyEmitter knows the Go names of everything in the package.
type safetyEmitter struct {
	c     *abi.Choices
	taken map[string]bool
	slots []*safetySlot
	sets  []*safetySet
}

// A safetySlot is a slot with its dependencies.
type safetySlot struct {
	abi.Slot
	name   string // Structure
	letter string // S
	types  []string
	deps   []int // earlier slots
	tagged bool  // later slots depend on this one, and it is generic
	kinds  []string
}

// generic reports whether the values name earlier choices.
func (s *safetySlot) generic() bool { return len(s.deps) > 0 }

// A safetySet is a closed union under the name of the reason.
type safetySet struct {
	name    string
	reasons []string
	members []string // Go types
}

func newSafety(c *abi.Choices) *safetyEmitter {
	e := &safetyEmitter{c: c, taken: map[string]bool{"Rule": true, "Check": true, "Illegal": true, "Unknown": true, "Names": true}}
	for _, s := range c.Slots {
		n := upperFirst(s.Word)
		e.taken[n], e.taken[n+"Over"], e.taken[n+"Kind"] = true, true, true
		e.slots = append(e.slots, &safetySlot{Slot: s, name: n, letter: n[:1]})
	}
	for _, n := range c.Needs {
		from, to := min(n.Slot, n.Of), max(n.Slot, n.Of)
		if s := e.slots[to]; !slices.Contains(s.deps, from) {
			s.deps = append(s.deps, from)
			slices.Sort(s.deps)
		}
	}
	for _, s := range e.slots {
		for _, d := range s.deps {
			e.slots[d].tagged = e.slots[d].generic()
		}
	}
	for _, s := range e.slots {
		for _, v := range s.Values {
			s.types = append(s.types, e.unique(exported(v.Name)))
		}
	}
	for _, s := range e.slots {
		for _, t := range s.types {
			if s.tagged {
				s.kinds = append(s.kinds, e.unique(t+"Kind"))
			}
		}
	}
	return e
}

// unique claims a name in the package.
func (e *safetyEmitter) unique(name string) string {
	out := name
	for n := 2; e.taken[out]; n++ {
		out = fmt.Sprintf("%s_%d", name, n)
	}
	e.taken[out] = true
	return out
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// exported is a page's name as an exported Go name. Names of pages are letters,
// digits and _.
func exported(name string) string {
	if out := upperFirst(gotext.Identifier(name, true)); token.IsIdentifier(out) {
		return out
	}
	panic("emitgo: BUG: no Go name for " + name)
}

// sentence is a sentence as one word: a divergence needs rows is
// ADivergenceNeedsRows. What Go cannot have in a name is dropped.
func sentence(text string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		r := []rune(w)
		b.WriteString(string(unicode.ToUpper(r[0])) + string(r[1:]))
	}
	if b.Len() == 0 {
		return "Required"
	}
	return b.String()
}

// letters are the parameters of a slot's values.
func (e *safetyEmitter) letters(s *safetySlot) []string {
	var out []string
	for _, d := range s.deps {
		out = append(out, e.letter(e.slots[d]))
	}
	return out
}

// letter is the parameter that stands for a choice where others depend on it.
func (e *safetyEmitter) letter(s *safetySlot) string {
	if s.tagged {
		return s.letter + "K"
	}
	return s.letter
}

// base is the constraint of any choice of a slot, and members are its types,
// where others depend on it.
func (e *safetyEmitter) base(s *safetySlot) (constraint string, members []string) {
	if s.tagged {
		return s.name + "Kind", s.kinds
	}
	return s.name, s.types
}

// allowed is the constraint on slot d for the value at of slot s.
func (e *safetyEmitter) allowed(i, at, d int) string {
	value := e.slots[i].Values[at].Name
	base := e.slots[d]
	constraint, members := e.base(base)
	var names, reasons, left []string
	for at, v := range base.Values {
		if len(e.broken(i, value, d, v.Name)) == 0 {
			left = append(left, members[at])
		}
		for _, n := range e.broken(i, value, d, v.Name) {
			name := sentence(n.Mark) + "_" + sentence(n.Reason)
			if !slices.Contains(names, name) {
				names, reasons = append(names, name), append(reasons, n.Reason)
			}
		}
	}
	if len(names) == 0 {
		return constraint
	}
	return e.set(strings.Join(names, "_And_"), reasons, left)
}

// broken lists the needs that two values leave unmet.
func (e *safetyEmitter) broken(i int, value string, d int, other string) []abi.Need {
	var out []abi.Need
	for _, n := range e.c.Needs {
		met := slices.Contains(n.Meets, other)
		if n.Slot == d {
			met = slices.Contains(n.Meets, value)
		}
		if !met && (n.Slot == i && n.By == value && n.Of == d || n.Slot == d && n.By == other && n.Of == i) {
			out = append(out, n)
		}
	}
	return out
}

// set declares a closed union, once.
func (e *safetyEmitter) set(name string, reasons, members []string) string {
	for _, s := range e.sets {
		if strings.HasPrefix(s.name, name) && slices.Equal(s.members, members) && slices.Equal(s.reasons, reasons) {
			return s.name
		}
	}
	name = e.unique(name)
	e.sets = append(e.sets, &safetySet{name, reasons, members})
	return name
}

// types prints safety.go.
func (e *safetyEmitter) types() string {
	var values, b strings.Builder
	for i := range e.slots {
		e.slot(&values, i)
	}
	e.head(&b)
	b.WriteString("// Package safety makes an illegal combination of knobs a compile error.\n//\n" +
		gotext.Comment(gotext.Wrap("A memory rule is "+strings.Join(e.words(), " + ")+", and not all of them fit together. Each value is a type here, and a Rule can only be named where its choices fit: a value that depends on another is generic over it, under a constraint whose name is the reason.", 76)) +
		"//\n// " + e.example() + "\n//\n// For choices that are only known at run time, Check walks the same table.\npackage safety\n\n")
	b.WriteString("// A choice is in every value and in nothing else.\ntype choice struct{ _ [0]func() }\n\n")
	e.rule(&b)
	b.WriteString(values.String())
	for _, s := range e.sets {
		for _, r := range s.reasons {
			b.WriteString(gotext.Comment(gotext.Wrap(s.name+": "+r+".", 76)))
		}
		fmt.Fprintf(&b, "type %s interface{ %s }\n\n", s.name, union(s.members))
	}
	if slices.ContainsFunc(e.sets, func(s *safetySet) bool { return len(s.members) == 0 }) {
		b.WriteString("// nothing is the member of a union that has none.\ntype nothing struct{ choice }\n")
	}
	return b.String()
}

func article(word string) string {
	if strings.ContainsRune("aeiou", rune(word[0])) {
		return "an " + word
	}
	return "a " + word
}

func union(members []string) string {
	if len(members) == 0 {
		return "nothing"
	}
	return strings.Join(members, " | ")
}
