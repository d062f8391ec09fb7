package parser

import (
	"strings"
	"testing"
)

func BenchmarkParse(b *testing.B) {
	text := "rule X\n" + strings.Repeat("M_t = ρ_t M_{t−1} − θ_t ∇_M ℓ(M_{t−1}; k_t, v_t)\n", 10000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		parseText(text)
	}
}
