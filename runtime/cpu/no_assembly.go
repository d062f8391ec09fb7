//go:build !amd64 || purego

package cpu

// Assembly is whether the program is built with assembly.
const Assembly = false
