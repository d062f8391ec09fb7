//go:build !(amd64 || arm64) || purego

package cpu

// AMD64 and ARM64 say for which architecture the program has assembly.
const AMD64, ARM64 = false, false
