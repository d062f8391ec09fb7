package emitgo

import _ "embed"

// KernelSupport is the text of the functions that every package of kernels
// has: the matrix product and two helpers. PACKAGE stands for its name.
//
//go:embed support.go.txt
var KernelSupport string
