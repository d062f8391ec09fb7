package config

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// unquote returns the contents of a string or a list.
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
		return f.fromList(v)
	}
	return f.fromWord(v.word)
}

// fromList reads a list of a file. One string is a list of one.
func (f field) fromList(v value) (reflect.Value, error) {
	out, one := reflect.New(f.typ).Elem(), unstable.String
	if f.numbers() {
		one = unstable.Integer
	}
	list := v.list
	switch {
	case v.kind == unstable.String && one == unstable.String:
		list = []value{v}
	case v.kind != unstable.Array:
		return out, fmt.Errorf("is a %s, must be %s", kindWords(v.kind), f.article())
	}
	for _, e := range list {
		if e.kind != one {
			return out, fmt.Errorf("holds a %s, must be %s", kindWords(e.kind), f.article())
		}
		if one == unstable.String {
			out.Set(reflect.Append(out, reflect.ValueOf(e.word)))
			continue
		}
		x, err := field{typ: f.typ.Elem()}.fromWord(e.word)
		if err != nil {
			return out, err
		}
		out.Set(reflect.Append(out, x))
	}
	return out, nil
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
	case reflect.Slice:
		for i := range v.Len() {
			if err := (field{typ: f.typ.Elem(), lo: f.lo, hi: f.hi, one: f.one}).inside(v.Index(i)); err != nil {
				if f.numbers() {
					return fmt.Errorf("holds %v, must be %s to %s", v.Index(i), f.lo, f.hi)
				}
				return fmt.Errorf("holds a word that %w", err)
			}
		}
		return nil
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
