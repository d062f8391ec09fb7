package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/cpu"
)

// A Key is one row of the table.
type Key struct {
	Path    string // as --set takes it
	Type    string // string, whole number, number, true or false, duration, list of strings or of whole numbers, with "by name" for a map
	Default string // as in a file; empty without one
	Range   string // in words, empty without bounds
	OneOf   []string
	Doc     string
}

// Keys returns the table of keys, in order.
func Keys() []Key {
	var out []Key
	for _, s := range sections {
		for _, f := range s.fields {
			path := s.name + "." + f.name
			if f.mapped {
				path += ".NAME"
			}
			out = append(out, Key{path, f.typeWords(), f.defaultText(), f.rangeWords(), f.one, f.doc})
		}
	}
	return out
}

// A section is a field of Config.
type section struct {
	name, doc string
	index     int // of the field
	fields    []field
}

// A field is a key of a section.
type field struct {
	name, doc string
	index     int
	typ       reflect.Type // of one value: the element of a map
	mapped    bool
	def       string
	lo, hi    string // bounds as written, empty if there is none
	one       []string
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	sections     = tableOf(reflect.TypeFor[Config]())
)

// tableOf reads the tags.
func tableOf(t reflect.Type) []section {
	var out []section
	for i := range t.NumField() {
		sf := t.Field(i)
		s := section{name: sf.Tag.Get("key"), doc: sf.Tag.Get("doc"), index: i}
		for j := range sf.Type.NumField() {
			s.fields = append(s.fields, fieldOf(sf.Type.Field(j), j))
		}
		out = append(out, s)
	}
	return out
}

func fieldOf(sf reflect.StructField, i int) field {
	f := field{name: sf.Tag.Get("key"), doc: sf.Tag.Get("doc"), index: i, typ: sf.Type, def: sf.Tag.Get("def")}
	if f.mapped = f.typ.Kind() == reflect.Map; f.mapped {
		f.typ = f.typ.Elem()
	}
	if in, ok := sf.Tag.Lookup("in"); ok {
		f.lo, f.hi, ok = strings.Cut(in, "..")
		if !ok {
			panic("config: BUG: range of " + f.name + " without two dots")
		}
	}
	if one := sf.Tag.Get("one"); one != "" {
		f.one = strings.Split(strings.Replace(one, "TARGETS", targets(), 1), "|")
	}
	return f
}

// targets are the words for the targets of the CPU in a tag.
func targets() string {
	var out []string
	for _, l := range cpu.Targets() {
		out = append(out, l.String())
	}
	return strings.Join(out, "|")
}

// typeWords names the type for people.
func (f field) typeWords() string {
	w := f.what()
	if f.mapped {
		w += " by name"
	}
	return w
}

// what is the name of the type of one value.
func (f field) what() string {
	if f.typ == durationType {
		return "duration"
	}
	switch f.typ.Kind() {
	case reflect.String:
		return "string"
	case reflect.Int, reflect.Uint64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		if f.numbers() {
			return "list of whole numbers"
		}
		return "list of strings"
	}
	panic(fmt.Sprintf("config: BUG: a key of type %v", f.typ))
}

// numbers reports whether a value is a list of numbers.
func (f field) numbers() bool {
	return f.typ.Kind() == reflect.Slice && f.typ.Elem().Kind() == reflect.Int
}

// article is what with its article.
func (f field) article() string {
	if f.typ.Kind() == reflect.Bool {
		return f.what()
	}
	return "a " + f.what()
}

// rangeWords is the range of a value in words.
func (f field) rangeWords() string {
	switch {
	case f.numbers():
		return "each " + f.lo + " to " + f.hi
	case f.lo != "" && f.hi != "":
		return f.lo + " to " + f.hi
	case f.lo != "":
		return "at least " + f.lo
	case f.hi != "":
		return "at most " + f.hi
	case f.what() == "number":
		return "finite"
	}
	return ""
}

// defaultText is the default as in a file.
func (f field) defaultText() string {
	if f.mapped {
		return ""
	}
	return text(f.initial())
}

// initial is the default as a value.
func (f field) initial() reflect.Value {
	v := reflect.New(f.typ).Elem()
	if f.def == "" {
		return v
	}
	x, err := f.fromWord(f.def)
	if err != nil {
		panic(fmt.Sprintf("config: BUG: default of %s: %v", f.name, err))
	}
	return x
}

// fromWord reads a value of the command line: a string needs no quotes, a list has
// commas.
func (f field) fromWord(s string) (reflect.Value, error) {
	v := reflect.New(f.typ).Elem()
	bad := fmt.Errorf("is %q, must be %s", s, f.article())
	if f.typ == durationType {
		d, err := time.ParseDuration(s)
		if err != nil {
			return v, fmt.Errorf("is %q, must be a duration such as 90s or 19h30m", s)
		}
		v.SetInt(int64(d))
		return v, nil
	}
	switch f.typ.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Bool:
		if s != "true" && s != "false" {
			return v, fmt.Errorf("is %q, must be true or false", s)
		}
		v.SetBool(s == "true")
	case reflect.Int:
		n, err := strconv.ParseInt(plain(s), 0, 64)
		if err != nil {
			return v, bad
		}
		v.SetInt(n)
	case reflect.Uint64:
		n, err := strconv.ParseUint(plain(s), 0, 63) // what TOML can hold
		if err != nil {
			return v, fmt.Errorf("is %s, must be a whole number from 0 to 2^63 − 1", s)
		}
		v.SetUint(n)
	case reflect.Float64:
		x, err := strconv.ParseFloat(plain(s), 64)
		if err != nil {
			return v, bad
		}
		v.SetFloat(x)
	case reflect.Slice:
		for w := range strings.SplitSeq(s, ",") {
			if w = strings.TrimSpace(w); w == "" {
				continue
			}
			x, err := field{typ: f.typ.Elem()}.fromWord(w)
			if err != nil {
				return v, fmt.Errorf("holds %q, must be %s", w, f.article())
			}
			v.Set(reflect.Append(v, x))
		}
	}
	return v, nil
}

// plain takes the underscores out of a number.
func plain(s string) string { return strings.ReplaceAll(s, "_", "") }

// sectionOf returns a section by name.
func sectionOf(name string) (section, bool) {
	for _, s := range sections {
		if s.name == name {
			return s, true
		}
	}
	return section{}, false
}

func (s section) field(name string) (field, bool) {
	for _, f := range s.fields {
		if f.name == name {
			return f, true
		}
	}
	return field{}, false
}

// IsTable reports whether a configuration has a table of this name.
func IsTable(name string) bool { _, ok := sectionOf(name); return ok }
