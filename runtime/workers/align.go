package workers

import "unsafe"

func newScratch(n int) *Scratch {
	s := &Scratch{all: make([]float32, n+16)}
	s.cut(n)
	return s
}

// cut points Data at the first multiple of 64 bytes.
func (s *Scratch) cut(n int) {
	at := 0
	if rest := int(uintptr(unsafe.Pointer(unsafe.SliceData(s.all))) % 64); rest > 0 {
		at = (64 - rest) / 4
	}
	s.Data = s.all[:cap(s.all)][at : at+n]
}
