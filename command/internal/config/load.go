package config

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Set is an override of the command line.
type Set struct {
	Flag  string // as the user wrote it, for messages: --set or a shorthand
	Key   string // such as update.lr
	Value string // as in a file, but a string needs no quotes
}

// A Loaded is a configuration and where its keys were set.
type Loaded struct {
	Config
	places map[string]Place
	inside map[string]func(at int) Place // of strings in a file: the place of a byte of what they say
}

// Default returns the configuration with all defaults.
func Default() Config {
	var c Config
	v := reflect.ValueOf(&c).Elem()
	for _, s := range sections {
		s.fill(v.Field(s.index))
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

// Parse is Load of a file's bytes; name is for messages.
func Parse(name string, data []byte, sets []Set, w World) (*Loaded, error) {
	d := decoder{Loaded: Loaded{Config: Default(), places: map[string]Place{}, inside: map[string]func(int) Place{}}}
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

// Wrong returns an error about a key that the table of keys cannot find, at the place
// where the key was set.
func (l *Loaded) Wrong(path, message, hint string) Problems {
	return Problems{{Place: l.places[path], Message: message, Hint: hint}}
}

// within is the place of a part of a string: in the file, or in the string itself
// where it is from the command line.
func (l *Loaded) within(path, whole string, at, width int, message, hint string) Problem {
	p := l.places[path]
	if f := l.inside[path]; f != nil {
		p = f(at)
	} else {
		p.Col, p.Text = utf8.RuneCountInString(whole[:at])+1, whole
	}
	p.Width = max(width, 1)
	return Problem{p, message, hint}
}

// A decoder collects problems while it fills a configuration.
type decoder struct {
	Loaded
	problems Problems
}

func (d *decoder) fail(at Place, message, hint string) {
	d.problems = append(d.problems, Problem{at, message, hint})
}

// leaf decodes one leaf of a file. Keys of an unknown table are not reported again.
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
	case len(l.path) == 2 && l.item:
		unknown[full] = true
		d.fail(l.at, fmt.Sprintf("%q is one table, not a list of tables", s.name), "write ["+s.name+"]")
		return
	case !l.header && len(l.path) == 1:
		d.fail(l.at, fmt.Sprintf("%q is a table, not a value", full), "write ["+s.name+"]")
		return
	}
	f, _, ok := d.target(l.path)
	switch {
	case !l.header:
		d.set(l, full)
	case len(l.path) == 1:
	case !ok:
		unknown[full] = true
		d.fail(l.at, fmt.Sprintf("unknown table %q", full), suggest(l.path))
	case !f.mapped:
		unknown[full] = true
		d.fail(l.at, fmt.Sprintf("%s is a table, must be %s", full, f.article()), "")
	}
}

// set takes the value of a key.
func (d *decoder) set(l leaf, full string) {
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
	if _, ok := d.places[full]; ok { // a name in quotes may have dots
		d.fail(l.at, full+" is set twice", "")
		return
	}
	d.put(f, v, l.path, x, l.at)
	d.inside[full] = l.value.inside
	for i, e := range l.value.list {
		d.places[fmt.Sprintf("%s.%d", full, i)] = e.at
	}
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
	delete(d.inside, s.Key)
	for i := range maxItems { // those of a list in the file
		delete(d.places, fmt.Sprintf("%s.%d", s.Key, i))
	}
}
