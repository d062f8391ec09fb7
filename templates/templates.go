// Package templates holds layout of printed files that no decision of a printer
// belongs in.
package templates

import _ "embed"

// Kernel is the layout of a file with a CUDA kernel.
//
//go:embed cuda/kernel.cu.tmpl
var Kernel string
