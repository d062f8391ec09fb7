package context

import "runtime"

// goroutine returns the number of the running goroutine, and 0 where it cannot
// be found. The runtime shows it only in the first line of a stack trace,
// "goroutine 17 [running]:", and nothing here depends on more than that two
// goroutines that live at once have different ones.
func goroutine() (id uint64) {
	const before = len("goroutine ")
	var line [before + 20]byte
	n := runtime.Stack(line[:], false)
	for _, c := range line[min(n, before):n] {
		if c < '0' || c > '9' {
			return id
		}
		id = id*10 + uint64(c-'0')
	}
	return 0
}
