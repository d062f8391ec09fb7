package tensor

import "unsafe"

// lineBytes is the size of a cache line in bytes, and of the widest vector that a
// kernel loads at once.
const lineBytes = 64

// Make returns n zero elements of which the first is aligned to a cache line. After
// the last there is memory up to the next line, so that a whole line may be
// read. An element whose size does not divide Line, or that the allocator put
// beside a multiple of its size, is aligned as make aligns it.
func Make[T any](n int) []T {
	line := lineElements[T]()
	raw := make([]T, Lines[T](n)+line)
	var t T
	skip := 0
	if rest := uintptr(unsafe.Pointer(&raw[0])) % lineBytes; rest > 0 && line > 1 {
		if gap := lineBytes - rest; gap%unsafe.Sizeof(t) == 0 {
			skip = int(gap / unsafe.Sizeof(t))
		}
	}
	return raw[skip : skip+n : skip+n]
}

// lineElements is how many elements fill a cache line, 1 for those that do not
// divide one.
func lineElements[T any]() int {
	var t T
	if size := unsafe.Sizeof(t); size > 0 && lineBytes%size == 0 {
		return int(lineBytes / size)
	}
	return 1
}

// Lines is n rounded up to whole cache lines, in elements.
func Lines[T any](n int) int {
	line := lineElements[T]()
	return (n + line - 1) &^ (line - 1) // a divisor of Line is a power of two
}
