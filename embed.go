package hecate

import "embed"

// Specs are the library's own pages, in the folder specs. The compiler carries them, so
// that the pages of any module can name them.
//
//go:embed specs
var Specs embed.FS
