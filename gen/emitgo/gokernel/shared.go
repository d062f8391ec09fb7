package gokernel

import "github.com/nl-hecate/hecate/gen/emitgo/gotext"

// kernPath is the package that all emitted kernels share.
const kernPath = gotext.Module + "runtime/kern"
