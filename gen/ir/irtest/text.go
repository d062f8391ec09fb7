package irtest

import (
	_ "embed"
	"fmt"

	"github.com/nl-hecate/hecate/gen/ir"
)

// Delta is the delta rule, the recurrence M' = ρM − θ(Mk − v)kᵀ with the read
// y = M'q and the series k, q, v, ρ, θ as inputs.
//
//go:embed testdata/delta.ir
var Delta string

// MustParse reads a program and panics where the text is not one.
func MustParse(text string) *ir.Func {
	f, err := ir.Parse(text)
	if err != nil {
		panic(fmt.Sprintf("%v\n%s", err, text))
	}
	return f
}
