package project

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A file is hecate.toml. A key that is left out has the value of Default.
type file struct {
	Specs      []string `toml:"specs"`
	Go         string   `toml:"go"`
	Package    string   `toml:"package"`
	CUDA       string   `toml:"cuda"`
	Targets    []string `toml:"targets"`
	Standalone bool     `toml:"standalone"`

	name   string // for messages; "" where the values are from no file
	places map[string][]unstable.Position
}

var keys = []string{"specs", "go", "package", "cuda", "targets", "standalone"}

// targets are what pages can become.
var targets = []string{"go", "cuda"}

func defaults() file {
	return file{Specs: []string{"specs"}, Go: "generated", CUDA: "cuda/kernels", Targets: targets}
}

// parse reads the text of the file of that name.
func parse(name, text string) (file, error) {
	f := defaults()
	f.name, f.places = name, map[string][]unstable.Position{}
	text = strings.TrimPrefix(text, "\ufeff")
	if err := f.locate(text); err != nil {
		return f, err
	}
	err := toml.Unmarshal([]byte(text), &f)
	if bad := (*toml.DecodeError)(nil); errors.As(err, &bad) {
		line, col := bad.Position()
		what := strings.TrimPrefix(bad.Error(), "toml: ")
		if key := strings.Join(bad.Key(), "."); key != "" {
			what = fmt.Sprintf("%s cannot have this value; specs and targets are lists of strings, standalone is true or false, the others are strings", key)
		}
		return f, fmt.Errorf("%s:%d:%d: %s", name, line, col, what)
	}
	if err != nil {
		return f, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// locate notes the position of each value, and refuses unknown keys and keys that occur
// twice. The decoder would not tell upper case from lower case.
func (f *file) locate(text string) error {
	var p unstable.Parser
	p.Reset([]byte(text))
	for p.NextExpression() {
		var words []string
		var at unstable.Position
		for k := p.Expression().Key(); k.Next(); words = append(words, string(k.Node().Data)) {
			if len(words) == 0 {
				at = p.Shape(k.Node().Raw).Start
			}
		}
		key := strings.Join(words, ".")
		fail := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d:%d: %s", f.name, at.Line, at.Column, fmt.Sprintf(format, args...))
		}
		switch {
		case p.Expression().Kind != unstable.KeyValue:
			return fail("%s is a table, and %s has none; the keys are %s", key, FileName, strings.Join(keys, ", "))
		case !slices.Contains(keys, key):
			return fail("there is no key %s; %sthe keys are %s", key, meant(key), strings.Join(keys, ", "))
		case f.places[key] != nil:
			return fail("%s is set twice, first on line %d; keep one of the two", key, f.places[key][0].Line)
		}
		f.places[key] = append(f.places[key], at)
		for v := p.Expression().Value().Children(); v.Next(); {
			f.places[key] = append(f.places[key], p.Shape(v.Node().Raw).Start)
		}
	}
	return nil // the decoder reports text that cannot be parsed
}

// meant proposes the key that a word may be a misspelling of.
func meant(word string) string {
	low := strings.ToLower(word)
	for _, k := range keys {
		if low != "" && (strings.HasPrefix(k, low) || strings.HasPrefix(low, k)) {
			return fmt.Sprintf("did you mean %s? ", k)
		}
	}
	return ""
}

// errorf is an error about the value of a key, or about the element i of a list.
func (f *file) errorf(key string, i int, format string, args ...any) error {
	err := fmt.Errorf(key+": "+format, args...)
	if at := f.places[key]; len(at) > 0 {
		p := at[0]
		if i+1 < len(at) {
			p = at[i+1]
		}
		return fmt.Errorf("%s:%d:%d: %w", f.name, p.Line, p.Column, err)
	}
	if f.name != "" { // the value is the one that holds without the key
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return err
}
