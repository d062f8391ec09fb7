package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A JSONError says where a tokenizer.json has something that is not understood.
type JSONError struct {
	Path    string // as $.model.merges[3]
	Problem string // what is there and what was wanted
}

func (e *JSONError) Error() string { return fmt.Sprintf("tokenizer: %s: %s", e.Path, e.Problem) }

// A node is a value of a JSON text and its path. Unlike a map it has no
// key twice and keeps their order.
type node struct {
	path  string
	value any // nil, bool, string, json.Number, []node or object
}

type object struct {
	keys   []string
	values map[string]node
}

// fail is what the functions that read a tokenizer.json panic with; Parse recovers it.
func (n node) fail(format string, args ...any) *JSONError {
	return &JSONError{n.path, fmt.Sprintf(format, args...)}
}

// recovered turns a failure to read into an error.
func recovered(err *error) {
	switch e := recover().(type) {
	case nil:
	case *JSONError:
		*err = e
	default:
		panic(e)
	}
}

// parse reads one JSON text and nothing after it.
func parse(data []byte) node {
	root := node{path: "$"}
	if !utf8.Valid(data) {
		panic(root.fail("the file is not UTF-8, want a tokenizer.json"))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n := read(d, "$", 0)
	if d.More() {
		panic(root.fail("there is more after the value, from byte %d on", d.InputOffset()))
	}
	return n
}

// read reads the value that comes next.
func read(d *json.Decoder, path string, depth int) node {
	const deepest = 16 // a tokenizer.json has five
	n := node{path: path}
	t := n.token(d)
	if depth > deepest {
		panic(n.fail("values are nested deeper than %d", deepest))
	}
	switch t {
	case json.Delim('{'):
		o := object{values: map[string]node{}}
		for d.More() {
			key := n.token(d).(string) // the decoder refuses others
			if _, twice := o.values[key]; twice {
				panic(n.fail("the key %q is there twice", key))
			}
			o.keys = append(o.keys, key)
			o.values[key] = read(d, n.path+"."+key, depth+1)
		}
		n.value = o
	case json.Delim('['):
		list := []node{}
		for d.More() {
			list = append(list, read(d, fmt.Sprintf("%s[%d]", n.path, len(list)), depth+1))
		}
		n.value = list
	default:
		n.value = t
		return n
	}
	n.token(d) // the bracket
	return n
}

func (n node) token(d *json.Decoder) json.Token {
	t, err := d.Token()
	if err != nil {
		panic(n.fail("no JSON at byte %d: %v", d.InputOffset(), err))
	}
	return t
}

// String describes a value in a few words.
func (n node) String() string {
	switch v := n.value.(type) {
	case nil:
		return "null"
	case bool, json.Number:
		return fmt.Sprint(v)
	case string:
		if len(v) > 60 {
			return fmt.Sprintf("%.60q…", v)
		}
		return fmt.Sprintf("%q", v)
	case object:
		if t, ok := v.values["type"]; ok {
			return fmt.Sprintf("an object of type %v", t)
		}
		return "an object"
	case []node:
		return fmt.Sprintf("a list of %d", len(v))
	}
	panic(fmt.Sprintf("tokenizer: BUG: a JSON value is a %T", n.value))
}

// as wants a value of the type T, which what describes.
func as[T any](n node, what string) T {
	v, ok := n.value.(T)
	if !ok {
		panic(n.fail("%v, want %s", n, what))
	}
	return v
}

// object wants an object with no other keys; keys that are absent read as null.
func (n node) object(keys ...string) map[string]node {
	o := as[object](n, "an object")
	for _, k := range o.keys {
		if !slices.Contains(keys, k) {
			panic(o.values[k].fail("the key is not understood; known are %v", keys))
		}
	}
	for _, k := range keys {
		if _, ok := o.values[k]; !ok {
			o.values[k] = node{path: n.path + "." + k}
		}
	}
	return o.values
}

func (n node) list() []node { return as[[]node](n, "a list") }

func (n node) text() string { return as[string](n, "a string") }

// truth wants true or false; null is what it is by default.
func (n node) truth(byDefault bool) bool {
	if n.value == nil {
		return byDefault
	}
	return as[bool](n, "true or false")
}

// id wants an integer from 0 below 2^20; no vocabulary is larger.
func (n node) id() int32 {
	const below = 1 << 20
	if x, ok := n.value.(json.Number); ok {
		if i, err := x.Int64(); err == nil && i >= 0 && i < below {
			return int32(i)
		}
	}
	panic(n.fail("%v, want an id from 0 to %d", n, below-1))
}

// only wants one of some values, which are nil, bools or strings.
func (n node) only(why string, values ...any) {
	switch n.value.(type) {
	case object, []node:
	default:
		if slices.Contains(values, n.value) {
			return
		}
	}
	panic(n.fail("%v is not understood: %s", n, why))
}
