package ident

import (
	"slices"
	"strings"
	"unicode"
)

var goWords = strings.Fields(`break case chan const continue default defer else fallthrough for func go goto if import
 interface map package range return select struct switch type var any bool byte comparable complex64 complex128 error
 float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota
 append cap clear close complex copy delete imag len make max min new panic print println real recover init main`)

var fileWords = strings.Fields(`con prn aux nul com1 com2 com3 com4 lpt1 lpt2 lpt3 internal vendor testdata test`)

// importedWords are the packages that generated code, its tests and the registry
// import: a package of one of these names could not be told from them.
var importedWords = strings.Fields(`block conformance catalog context cpu fmt formula kern library lifecycle math module num pulse rand
 registry runtime strings tape tensor testing unsafe update workers`)

// Imported reports whether generated code imports a package of this name.
func Imported(pkg string) bool { return slices.Contains(importedWords, pkg) }

// Reserved returns why an id cannot be a Go name or a file name, or "".
func Reserved(id string) string {
	switch {
	case slices.Contains(goWords, id):
		return "it is a word of Go"
	case slices.Contains(fileWords, id):
		return "a file or folder of this name means something else"
	case id == "" || !unicode.IsLetter([]rune(id)[0]):
		return "a name starts with a letter"
	case strings.ContainsFunc(id, func(r rune) bool { return r > 127 || !(r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r)) }):
		return "it has a character that a file name cannot have"
	}
	return ""
}
