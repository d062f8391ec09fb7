package config

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A Set is an override of the command line.
type Set struct {
	Flag  string // as the user wrote it, for messages: --set or a shorthand
	Key   string // such as update.lr or level.0.period
	Value string // as in a file, but a string needs no quotes
}

// A Loaded is a configuration and where its keys were set.
type Loaded struct {
	Config
	places map[string]Place
}

// Default returns the configuration that is told nothing.
func Default() Config {
	var c Config
	v := reflect.ValueOf(&c).Elem()
	for _, s := range sections {
		if !s.repeated {
			s.fill(v.Field(s.index))
		}
	}
	return c
}

// fill sets a section to its defaults.
func (s section) fill(v reflect.Value) {
	for _, f := range s.fields {
		if f.mapped {
			v.Field(f.index).Set(reflect.MakeMap(v.Field(f.index).Type()))
			continue
		}
		v.Field(f.index).Set(f.initial())
	}
}

// Load reads the file at path, if one is given, and the overrides. The error is
// the file system's or Problems, all of them.
func Load(path string, sets []Set, w World) (*Loaded, error) {
	var data []byte
	if path != "" {
		var err error
		if data, err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("read configuration: %w", err)
		}
	}
	return Parse(path, data, sets, w)
}

// Parse is Load of a file's bytes; name stands in messages.
func Parse(name string, data []byte, sets []Set, w World) (*Loaded, error) {
	d := decoder{Loaded: Loaded{Config: Default(), places: map[string]Place{}}}
	leaves, bad := parse(name, data)
	if bad != nil {
		return nil, Problems{*bad}
	}
	unknown := map[string]bool{}
	for _, l := range leaves {
		d.leaf(l, unknown)
	}
	for _, s := range sets {
		d.override(s)
	}
	d.check(w)
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return &d.Loaded, nil
}

// Given reports whether a key was set by the user.
func (l *Loaded) Given(path string) bool { _, ok := l.places[path]; return ok }

// Wrong returns an error about a key that only the program could find, at the
// place where the key was set.
func (l *Loaded) Wrong(path, message, hint string) error {
	return Problems{{Place: l.places[path], Message: message, Hint: hint}}
}

// A decoder collects what is wrong while it fills a configuration.
type decoder struct {
	Loaded
	problems Problems
}

func (d *decoder) fail(at Place, message, hint string) {
	d.problems = append(d.problems, Problem{at, message, hint})
}

// leaf takes one leaf of a file. What stands under an unknown table is not
// reported again.
func (d *decoder) leaf(l leaf, unknown map[string]bool) {
	for n := range l.path {
		if unknown[strings.Join(l.path[:n], ".")] {
			return
		}
	}
	full := strings.Join(l.path, ".")
	s, ok := sectionOf(l.path[0])
	switch {
	case !ok && l.header:
		unknown[full] = true
		d.fail(l.at, fmt.Sprintf("unknown table %q", full), didYouMean(l.path[0], sectionNames(), "there are "))
		return
	case !ok:
		d.fail(l.at, fmt.Sprintf("unknown key %q", full), suggest(l.path))
		return
	case s.repeated && !numbered(l.path):
		d.fail(l.at, fmt.Sprintf("%q is not a table with a number of its own", full), "write [["+s.name+"]]")
		unknown[full] = true
		return
	case s.repeated:
		n, _ := strconv.Atoi(l.path[1]) // numbered has seen to it
		d.grow(s, n)
	case !l.header && len(l.path) == 1:
		d.fail(l.at, fmt.Sprintf("%q is a table, not a value", full), "write ["+s.name+"]")
		return
	}
	if l.header {
		if _, _, ok := d.target(l.path); len(l.path) > s.depth() && !ok {
			unknown[full] = true
			d.fail(l.at, fmt.Sprintf("unknown table %q", full), suggest(l.path))
		}
		return
	}
	f, v, ok := d.target(l.path)
	if !ok {
		d.fail(l.at, fmt.Sprintf("unknown key %q", full), suggest(l.path))
		return
	}
	x, err := f.fromValue(l.value)
	if err == nil {
		err = f.inside(x)
	}
	if err != nil {
		d.fail(l.value.at, full+" "+err.Error(), "")
		return
	}
	d.put(f, v, l.path, x, l.at)
}

// depth is how many parts of a path name a table of the section.
func (s section) depth() int {
	if s.repeated {
		return 2
	}
	return 1
}

// numbered reports whether a path goes into a table of a repeated section.
func numbered(path []string) bool {
	if len(path) < 2 {
		return false
	}
	n, err := strconv.Atoi(path[1])
	return err == nil && n >= 0
}

// maxLevels bounds what a number on the command line can ask for.
const maxLevels = 64

// grow sees that a repeated section has a table n.
func (d *decoder) grow(s section, n int) bool {
	list := reflect.ValueOf(&d.Config).Elem().Field(s.index)
	if n > list.Len() || n >= maxLevels {
		return false
	}
	if n == list.Len() {
		one := reflect.New(list.Type().Elem()).Elem()
		s.fill(one)
		list.Set(reflect.Append(list, one))
	}
	return true
}

// target finds the field of a path, and where its value goes: the field, or the
// map that it is an element of.
func (d *decoder) target(path []string) (f field, v reflect.Value, ok bool) {
	s, ok := sectionOf(path[0])
	if !ok {
		return f, v, false
	}
	v = reflect.ValueOf(&d.Config).Elem().Field(s.index)
	rest := path[1:]
	if s.repeated {
		if !numbered(path) {
			return f, v, false
		}
		n, _ := strconv.Atoi(path[1])
		if n >= v.Len() {
			return f, v, false
		}
		v, rest = v.Index(n), path[2:]
	}
	if len(rest) == 0 {
		return f, v, false
	}
	if f, ok = s.field(rest[0]); !ok || len(rest) > 1 && !f.mapped {
		return f, v, false
	}
	return f, v.Field(f.index), true
}

// put sets a value and remembers where it came from.
func (d *decoder) put(f field, v reflect.Value, path []string, x reflect.Value, at Place) {
	if f.mapped {
		name := strings.Join(path[2:], ".")
		if name == "" {
			d.fail(at, fmt.Sprintf("%q is a table, not a value", strings.Join(path, ".")), "")
			return
		}
		v.SetMapIndex(reflect.ValueOf(name), x)
	} else {
		v.Set(x)
	}
	d.places[strings.Join(path, ".")] = at
}

// override takes one setting of the command line.
func (d *decoder) override(s Set) {
	at := Place{File: s.Flag}
	path := strings.Split(s.Key, ".")
	if sec, ok := sectionOf(path[0]); ok && sec.repeated && numbered(path) {
		n, _ := strconv.Atoi(path[1])
		if !d.grow(sec, n) {
			d.fail(at, fmt.Sprintf("%s: the next table of [[%s]] is number %d", s.Key, sec.name, len(d.Levels)), "")
			return
		}
	}
	f, v, ok := d.target(path)
	if !ok || slices.Contains(path, "") {
		d.fail(at, fmt.Sprintf("unknown key %q", s.Key), suggest(path))
		return
	}
	x, err := f.fromWord(unquote(s.Value, f))
	if err == nil {
		err = f.inside(x)
	}
	if err != nil {
		d.fail(at, s.Key+" "+err.Error(), "")
		return
	}
	d.put(f, v, path, x, at)
}

// unquote takes the form that a file has off a string or a list.
func unquote(s string, f field) string {
	switch f.typ.Kind() {
	case reflect.String, reflect.Slice:
		leaves, bad := parse("", []byte("x = "+s))
		if bad != nil || len(leaves) != 1 {
			return s
		}
		switch v := leaves[0].value; v.kind {
		case unstable.String:
			return v.word
		case unstable.Array:
			var words []string
			for _, e := range v.list {
				words = append(words, e.word)
			}
			return strings.Join(words, ",")
		}
	}
	return s
}

// fromValue reads a value of a file.
func (f field) fromValue(v value) (reflect.Value, error) {
	wrong := func() (reflect.Value, error) {
		return reflect.Value{}, fmt.Errorf("is a %s, must be %s", kindWords(v.kind), f.article())
	}
	if f.typ == durationType {
		if v.kind != unstable.String {
			return reflect.Value{}, fmt.Errorf("is a %s, must be a duration in quotes, such as \"19h30m\"", kindWords(v.kind))
		}
		return f.fromWord(v.word)
	}
	switch f.typ.Kind() {
	case reflect.String:
		if v.kind != unstable.String {
			return wrong()
		}
		return reflect.ValueOf(v.word), nil
	case reflect.Bool:
		if v.kind != unstable.Bool {
			return wrong()
		}
	case reflect.Int, reflect.Uint64:
		if v.kind != unstable.Integer {
			return wrong()
		}
	case reflect.Float64:
		if v.kind != unstable.Float && v.kind != unstable.Integer {
			return wrong()
		}
	case reflect.Slice:
		list := v.list
		if v.kind == unstable.String {
			list = []value{v}
		} else if v.kind != unstable.Array {
			return wrong()
		}
		words := []string(nil)
		for _, e := range list {
			if e.kind != unstable.String {
				return reflect.Value{}, fmt.Errorf("holds a %s, must be a list of strings", kindWords(e.kind))
			}
			words = append(words, e.word)
		}
		return reflect.ValueOf(words), nil
	}
	return f.fromWord(v.word)
}

func kindWords(k unstable.Kind) string {
	switch k {
	case unstable.Integer:
		return "whole number"
	case unstable.Float:
		return "number with a fraction"
	case unstable.Bool:
		return "truth value"
	case unstable.Array:
		return "list"
	case unstable.InlineTable:
		return "table"
	case unstable.String:
		return "string"
	}
	return "date or time"
}

// inside compares a value with the bounds of its field.
func (f field) inside(v reflect.Value) error {
	if f.typ == durationType {
		for _, b := range []string{f.lo, f.hi} {
			bound, _ := time.ParseDuration(b)
			if b == "0" || b == "" {
				bound = 0
			}
			if d := time.Duration(v.Int()); b != "" && (b == f.lo && d < bound || b == f.hi && d > bound) {
				return fmt.Errorf("is %v, must be %s", d, f.rangeWords())
			}
		}
		return nil
	}
	var x float64
	switch f.typ.Kind() {
	case reflect.Int:
		x = float64(v.Int())
	case reflect.Float64:
		if x = v.Float(); math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Errorf("is %v, must be a finite number", x)
		}
	case reflect.String:
		if len(f.one) > 0 && !slices.Contains(f.one, v.String()) {
			hint := ""
			if w := near(v.String(), f.one); w != "" {
				hint = fmt.Sprintf("; did you mean %q?", w)
			}
			return fmt.Errorf("is %q, must be one of %s%s", v.String(), strings.Join(f.one, ", "), hint)
		}
		return nil
	default:
		return nil
	}
	for _, b := range []string{f.lo, f.hi} {
		bound, err := strconv.ParseFloat(b, 64)
		if err == nil && (b == f.lo && !(x >= bound) || b == f.hi && b != f.lo && !(x <= bound)) {
			return fmt.Errorf("is %v, must be %s", v.Interface(), f.rangeWords())
		}
	}
	return nil
}

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
			name := s.name + "." + f.name
			if s.repeated {
				number := "0"
				if numbered(path) {
					number = path[1]
				}
				name = s.name + "." + number + "." + f.name
			}
			all = append(all, name)
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
