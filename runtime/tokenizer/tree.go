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

func (n node) fail(format string, args ...any) error {
	return &JSONError{n.path, fmt.Sprintf(format, args...)}
}

// parse reads one JSON text and nothing after it.
func parse(data []byte) (node, error) {
	root := node{path: "$"}
	if !utf8.Valid(data) {
		return root, root.fail("the file is not UTF-8, want a tokenizer.json")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n, err := read(d, "$", 0)
	if err != nil {
		return root, err
	}
	if d.More() {
		return root, root.fail("there is more after the value, from byte %d on", d.InputOffset())
	}
	return n, nil
}

// read reads the value that comes next.
func read(d *json.Decoder, path string, depth int) (node, error) {
	const deepest = 16 // a tokenizer.json has five
	n := node{path: path}
	t, err := d.Token()
	if err != nil {
		return n, n.fail("no JSON at byte %d: %v", d.InputOffset(), err)
	}
	if depth > deepest {
		return n, n.fail("values are nested deeper than %d", deepest)
	}
	switch t {
	case json.Delim('{'):
		n.value, err = readObject(d, n, depth)
	case json.Delim('['):
		n.value, err = readArray(d, n, depth)
	default:
		n.value = t
		return n, nil
	}
	if err != nil {
		return n, err
	}
	if _, err := d.Token(); err != nil { // the bracket
		return n, n.fail("no JSON at byte %d: %v", d.InputOffset(), err)
	}
	return n, nil
}

func readObject(d *json.Decoder, n node, depth int) (object, error) {
	o := object{values: map[string]node{}}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return o, n.fail("no JSON at byte %d: %v", d.InputOffset(), err)
		}
		key := t.(string) // the decoder refuses others
		if _, twice := o.values[key]; twice {
			return o, n.fail("the key %q is there twice", key)
		}
		v, err := read(d, n.path+"."+key, depth+1)
		if err != nil {
			return o, err
		}
		o.keys, o.values[key] = append(o.keys, key), v
	}
	return o, nil
}

func readArray(d *json.Decoder, n node, depth int) ([]node, error) {
	list := []node{}
	for d.More() {
		v, err := read(d, fmt.Sprintf("%s[%d]", n.path, len(list)), depth+1)
		if err != nil {
			return list, err
		}
		list = append(list, v)
	}
	return list, nil
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

// object wants an object with no other keys; keys that are absent read as null.
func (n node) object(keys ...string) (object, error) {
	o, ok := n.value.(object)
	if !ok {
		return o, n.fail("%v, want an object", n)
	}
	for _, k := range o.keys {
		if !slices.Contains(keys, k) {
			return o, o.values[k].fail("the key is not understood; known are %v", keys)
		}
	}
	for _, k := range keys {
		if _, ok := o.values[k]; !ok {
			o.values[k] = node{path: n.path + "." + k}
		}
	}
	return o, nil
}

func (n node) list() ([]node, error) {
	l, ok := n.value.([]node)
	if !ok {
		return nil, n.fail("%v, want a list", n)
	}
	return l, nil
}

func (n node) text() (string, error) {
	s, ok := n.value.(string)
	if !ok {
		return "", n.fail("%v, want a string", n)
	}
	return s, nil
}

// truth wants true or false; null is what it is by default.
func (n node) truth(byDefault bool) (bool, error) {
	if n.value == nil {
		return byDefault, nil
	}
	b, ok := n.value.(bool)
	if !ok {
		return false, n.fail("%v, want true or false", n)
	}
	return b, nil
}

// id wants an integer from 0 below 2^20; no vocabulary is larger.
func (n node) id() (int32, error) {
	const below = 1 << 20
	x, ok := n.value.(json.Number)
	if ok {
		if i, err := x.Int64(); err == nil && i >= 0 && i < below {
			return int32(i), nil
		}
	}
	return 0, n.fail("%v, want an id from 0 to %d", n, below-1)
}

// only wants one of some values, which are nil, bools or strings.
func (n node) only(why string, values ...any) error {
	if slices.Contains(values, n.scalar()) {
		return nil
	}
	return n.fail("%v is not understood: %s", n, why)
}

// scalar is the value if it can be compared.
func (n node) scalar() any {
	switch n.value.(type) {
	case object, []node:
		return noScalar{}
	}
	return n.value
}

// noScalar is equal to no value of a JSON text.
type noScalar struct{}
