package main

import (
	_ "embed"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
)

// Step 1 of a target: the table of what its language writes in its own way. The
// rest of an expression is printed by package clike.

// header is the text before all kernels: functions that C lacks.
//
//go:embed hecate.h
var header string

// language is C99 in double precision. A product is in brackets, so that the order
// of the roundings is that of the plan.
var language = &clike.Language{
	Types:     map[ir.Elem]string{ir.Real: "double", ir.Int: "int32_t", ir.Bool: "bool"},
	Unsigned:  "(unsigned)",
	Number:    number,
	Literal:   number,
	Function:  functionOf,
	Round:     func(product string) string { return "(" + product + ")" },
	Address64: "(int64_t)",
}

// functions are the primitives that are functions of hecate.h, or of math.h under
// another name. The operators and conditional expressions are the same in all
// languages like C.
var functions = map[ir.Op]string{
	ir.Sigmoid: "hecate_sigmoid", ir.Softplus: "hecate_softplus", ir.Abs: "fabs", ir.Sign: "hecate_sign",
	ir.Pow: "hecate_pow", ir.Mod: "hecate_mod", ir.Max2: "hecate_max", ir.Min2: "hecate_min",
}

func functionOf(op ir.Op) string {
	if name := functions[op]; name != "" {
		return name
	}
	return clike.MathFunction(op)
}

// words are what no variable may be called, beside the functions of the headers:
// keywords, macros, and the counters of products.
var words = clike.Words(clike.ReservedInC + `NAN INFINITY NULL free memset no_root linux unix i386 row col at sum`)

func reserved(id string) bool {
	return words[id] || clike.MathH[id] || strings.HasPrefix(id, "hecate_")
}

func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NAN"
	case math.IsInf(v, 0):
		return map[bool]string{false: "INFINITY", true: "(-INFINITY)"}[v < 0]
	}
	s := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if math.Signbit(v) {
		return fmt.Sprintf("(%s)", s)
	}
	return s
}
