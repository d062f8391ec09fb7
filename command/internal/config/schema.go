package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"time"
)

// Schema returns the JSON schema (draft 2020-12) of a configuration, for
// editors. Its keys are sorted; the same program produces the same bytes.
func Schema() []byte {
	props := map[string]any{}
	for _, s := range sections {
		fields := map[string]any{}
		for _, f := range s.fields {
			fields[f.name] = f.schema()
		}
		table := map[string]any{"type": "object", "additionalProperties": false, "properties": fields}
		table["description"] = s.doc
		props[s.name] = table
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "hecate run",
		"type":    "object", "additionalProperties": false, "properties": props,
	}); err != nil {
		panic("config: BUG: the schema does not print: " + err.Error())
	}
	return b.Bytes()
}

// schema is that of one key. A map takes names with dots as tables in tables.
func (f field) schema() map[string]any {
	m := f.single()
	if f.mapped {
		leaf := m
		m = map[string]any{"type": "object", "additionalProperties": map[string]any{
			"anyOf": []any{leaf, map[string]any{"type": "object", "additionalProperties": leaf}}}}
	} else if x := f.initial(); x.Kind() != reflect.Slice {
		m["default"] = x.Interface()
		if f.typ == durationType {
			m["default"] = x.Interface().(time.Duration).String()
		}
	}
	m["description"] = f.doc
	return m
}

// single is the schema of one value.
func (f field) single() map[string]any {
	m := map[string]any{}
	bound := func(key, word string) {
		if x, err := strconv.ParseFloat(word, 64); err == nil && f.typ != durationType {
			m[key] = x
		}
	}
	switch f.what() {
	case "string":
		m["type"] = "string"
		if len(f.one) > 0 {
			m["enum"] = f.one
		}
	case "duration":
		m["type"], m["pattern"] = "string", `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`
	case "whole number":
		m["type"] = "integer"
		if f.typ.Kind() == reflect.Uint64 {
			m["minimum"] = 0
		}
	case "number":
		m["type"] = "number"
	case "true or false":
		m["type"] = "boolean"
	case "list of whole numbers":
		item := field{typ: f.typ.Elem(), lo: f.lo, hi: f.hi}.single()
		return map[string]any{"type": "array", "items": item}
	case "list of strings":
		return map[string]any{"anyOf": []any{map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "string"}}}}
	}
	bound("minimum", f.lo)
	bound("maximum", f.hi)
	return m
}
