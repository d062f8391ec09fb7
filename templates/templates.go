// Package templates holds layout of printed files that no decision of a printer
// belongs in.
package templates

import _ "embed"

// Kernel is the layout of a file with a CUDA kernel.
//
//go:embed cuda/kernel.cu.tmpl
var Kernel string

// Reference is the layout of the reference in markdown.
//
//go:embed docs/reference.md.tmpl
var Reference string

// Site is the layout of the reference as one file of HTML.
//
//go:embed docs/site.html.tmpl
var Site string
