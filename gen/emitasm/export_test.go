package emitasm

import "github.com/nl-hecate/hecate/gen/plan"

// Independent is whether rows of a nest may run at once.
var Independent = independent

// SumsInRegisters is whether a nest keeps what it adds to in registers.
func SumsInRegisters(outer *plan.Loop) bool { return registerSumsOf(outer) != nil }
