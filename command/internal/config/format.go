package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Format prints a configuration with every key, in the order of the table.
// Parse of the result is the same configuration, and Format of that the same bytes.
func Format(c Config) string {
	var b strings.Builder
	v := reflect.ValueOf(c)
	for _, s := range sections {
		x := v.Field(s.index)
		fmt.Fprintf(&b, "[%s]\n", s.name)
		s.print(&b, x)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// print prints the keys of a section, and an empty line after them.
func (s section) print(b *strings.Builder, v reflect.Value) {
	for _, f := range s.fields {
		x := v.Field(f.index)
		if !f.mapped {
			fmt.Fprintf(b, "%s = %s\n", f.name, text(x))
			continue
		}
		names := x.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, n := range names {
			fmt.Fprintf(b, "%s.%s = %s\n", f.name, dotted(n.String()), text(x.MapIndex(n)))
		}
	}
	b.WriteByte('\n')
}

// dotted quotes the parts of a name that a key cannot have bare.
func dotted(name string) string {
	parts := strings.Split(name, ".")
	for i, p := range parts {
		bare := p != "" && strings.Trim(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == ""
		if !bare {
			parts[i] = quote(p)
		}
	}
	return strings.Join(parts, ".")
}

// text prints a value as in a file.
func text(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case string:
		return quote(x)
	case time.Duration:
		return quote(x.String())
	case float64:
		s := strconv.FormatFloat(x, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		return s
	case []string:
		var words []string
		for _, w := range x {
			words = append(words, quote(w))
		}
		return "[" + strings.Join(words, ", ") + "]"
	case []int:
		return strings.ReplaceAll(fmt.Sprint(x), " ", ", ")
	}
	return fmt.Sprint(v.Interface())
}

// quote writes a string in TOML's basic form.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Starter is a file with every key at its default, each under a comment with
// its meaning.
func Starter() string {
	var b strings.Builder
	b.WriteString("# The configuration of a run. Every key has its default value and may be omitted.\n")
	for _, s := range sections {
		fmt.Fprintf(&b, "\n# %s\n[%s]\n", s.doc, s.name)
		for _, f := range s.fields {
			fmt.Fprintf(&b, "# %s%s\n", f.doc, f.aside())
			if f.mapped {
				fmt.Fprintf(&b, "# %s.NAME = …\n", f.name)
				continue
			}
			fmt.Fprintf(&b, "%s = %s\n", f.name, f.defaultText())
		}
	}
	return b.String()
}

// aside is the range of a value, in parentheses.
func (f field) aside() string {
	words := strings.Join(f.one, ", ")
	if words == "" {
		words = f.rangeWords()
	}
	if words == "" {
		return ""
	}
	return " (" + words + ")"
}

// Help lists every key with its type, its default, its range and its
// meaning.
func Help() string {
	var b strings.Builder
	for _, k := range Keys() {
		fmt.Fprintf(&b, "%s\n    %s", k.Path, k.Type)
		if k.Default != "" {
			fmt.Fprintf(&b, ", %s by default", k.Default)
		}
		if len(k.OneOf) > 0 {
			fmt.Fprintf(&b, "; one of %s", strings.Join(k.OneOf, ", "))
		} else if k.Range != "" {
			fmt.Fprintf(&b, "; %s", k.Range)
		}
		fmt.Fprintf(&b, "\n    %s\n", k.Doc)
	}
	return b.String()
}
