// Package hecate is a compiler from specification to kernels.
//
// The pages under specs are the program. `go generate ./...` proves them and
// writes generated/: typed operations of a tape, memory rules, compositions,
// models, updates and their tests. See README.md for the first two commands
// and ARCHITECTURE.md for the way of a page through the compiler.
package hecate

//go:generate go run ./cmd/hecategen generate
