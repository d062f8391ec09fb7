package emitgo

import _ "embed"

// kernPath is the package that all emitted kernels share.
const kernPath = module + "generated/kern"

// kern is the text of that package. It is Go like the kernels themselves, with
// the same fixed order of every sum, and moves as it is.
//
//go:embed kern.go.txt
var kern string

// fusedKern is the text of the package for the fused arithmetic.
//
//go:embed fused.go.txt
var fusedKern string
