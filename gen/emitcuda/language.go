package emitcuda

import (
	"strings"
	"unicode"

	"github.com/nl-hecate/hecate/gen/clike"
	"github.com/nl-hecate/hecate/gen/ir"
)

// language is the table of what differs from other languages like C.
var language = &clike.Language{
	Types:     map[ir.Elem]string{ir.Real: "float", ir.Int: "int", ir.Bool: "bool"},
	Unsigned:  "(unsigned)",
	Number:    number,
	Literal:   number,
	Function:  functionOf,
	Address64: "(i64)",
}

func number(v float64) string { return clike.Float32(v, "HECATE_NAN", "HECATE_INF") }

// functions are the primitives that are functions of hecate.cuh, or of CUDA under
// another name. The others are the functions of math.h for float.
var functions = map[ir.Op]string{
	ir.Sigmoid: "hecate::sigmoid", ir.Softplus: "hecate::softplus", ir.Abs: "fabsf", ir.Sign: "hecate::sign",
	ir.Pow: "hecate::pow", ir.Mod: "hecate::mod", ir.Max2: "hecate::max", ir.Min2: "hecate::min",
}

func functionOf(op ir.Op) string {
	name := functions[op]
	if f := clike.MathFunction(op); name == "" && f != "" {
		name = f + "f"
	}
	return name
}

// words are what no variable of a kernel may be called: keywords, words of the
// head of every file, and macros of old compilers.
var words = clike.Words(clike.ReservedInC + `
	hecate i64 threadIdx blockIdx blockDim gridDim
	bf16 operand item at points length thread threads row rows col across down dot m0 n0 p0 kk copy live search shared
	linux unix i386`)

func reserved(id string) bool {
	name, single := strings.CutSuffix(id, "f")
	return words[id] || single && clike.MathH[name]
}

// fileName spells a kernel's name in lower case, words apart: StepBackward is
// step_backward.
func fileName(name string) string {
	var b strings.Builder
	runes := []rune(clike.Underscored(name))
	for i, r := range runes {
		if unicode.IsUpper(r) && i > 0 {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if before := runes[i-1]; before != '_' && (!unicode.IsUpper(before) || after) {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
