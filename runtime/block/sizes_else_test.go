package block_test

import (
	"maps"
	"testing"

	"github.com/nl-hecate/hecate/runtime/block"
)

// TestElse wants the sizes that nothing gives from the caller, by their own names,
// those of a list's parts from the list, and all of them in Used.
func TestElse(t *testing.T) {
	s := block.NewSizes(map[string]int{"memory.d_k": 7, "memory.1.d_k": 9}).Else(func(name string) int {
		if name == "H" {
			return 4
		}
		return -1
	})
	for i, want := range []int{7, 9, 7} {
		if got := s.Part("memory."+string(rune('0'+i))).Get("d_k", -1, 1); got != want {
			t.Errorf("memory.%d.d_k is %d, want %d", i, got, want)
		}
	}
	if got := s.Part("attention").Get("H", -1, 1); got != 4 {
		t.Errorf("attention.H is %d, want 4", got)
	}
	if got := s.Part("attention").Get("w", 64, 1); got != 64 {
		t.Errorf("attention.w is %d, want the page's 64", got)
	}
	if err := s.Err(); err != nil {
		t.Error(err)
	}
	want := map[string]int{"memory.0.d_k": 7, "memory.1.d_k": 9, "memory.2.d_k": 7, "attention.H": 4, "attention.w": 64}
	if got := s.Used(); !maps.Equal(got, want) {
		t.Errorf("used %v, want %v", got, want)
	}
	if s.Get("d", -1, 1); s.Err() == nil {
		t.Error("a size that nothing gives was taken")
	}
}
