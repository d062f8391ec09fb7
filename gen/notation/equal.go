package notation

import (
	"math"
	"reflect"
)

// Equal reports whether two trees say the same: places and the spelling of
// numbers do not count, and ½ is 1/2.
func Equal(a, b any) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

// HalfText is the text of the number ½.
const HalfText = "½"

var spanType = reflect.TypeFor[Span]()

func equal(a, b reflect.Value) bool {
	if a.IsValid() && a.Kind() == reflect.Interface {
		a = a.Elem()
	}
	if b.IsValid() && b.Kind() == reflect.Interface {
		b = b.Elem()
	}
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if halfValue(a) && halfValue(b) {
		return true
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return a.Pointer() == b.Pointer() || equal(a.Elem(), b.Elem())
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		return equalFields(a, b)
	}
	return a.Interface() == b.Interface()
}

func equalFields(a, b reflect.Value) bool {
	number := a.Type() == reflect.TypeFor[Number]()
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if f.Type == spanType || f.Name == "Source" || number && f.Name == "Text" {
			continue
		}
		if !equal(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

func halfValue(v reflect.Value) bool {
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return false
	}
	e, ok := v.Interface().(Expr)
	return ok && IsHalf(e)
}

// IsHalf reports whether e is ½ or 1/2.
func IsHalf(e Expr) bool {
	switch e := e.(type) {
	case *Number:
		return e.Text == HalfText
	case *Binary:
		x, okX := e.X.(*Number)
		y, okY := e.Y.(*Number)
		return e.Op == "/" && okX && okY && x.Text == "1" && y.Text == "2"
	}
	return false
}

// Constant evaluates an expression of numbers alone: a literal, ∞, or arithmetic on such.
func Constant(e Expr) (float64, bool) {
	switch e := e.(type) {
	case *Number:
		return e.Value, true
	case *Unary:
		x, ok := Constant(e.X)
		return -x, ok
	case *Power:
		x, ok := Constant(e.X)
		y, oky := Constant(e.Exp)
		return math.Pow(x, y), ok && oky
	case *Call:
		if e.Fun.Text == "sqrt" && len(e.Args) == 1 {
			x, ok := Constant(e.Args[0])
			return math.Sqrt(x), ok
		}
	case *Binary:
		x, ok := Constant(e.X)
		y, oky := Constant(e.Y)
		if !ok || !oky {
			return 0, false
		}
		switch e.Op {
		case "+":
			return x + y, true
		case "−":
			return x - y, true
		case "·":
			return x * y, true
		case "/":
			return x / y, true
		}
	}
	return 0, false
}
