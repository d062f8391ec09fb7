//go:build !linux

package main

import "time"

// clockWords says what nanoseconds are.
const clockWords = "wall time"

var epoch = time.Now()

// now is the time in nanoseconds. validation/bench/c/serve.c reads a clock of the same kind.
func now() int64 { return time.Since(epoch).Nanoseconds() }

// processNow is the same.
func processNow() int64 { return now() }
