//go:build amd64 && !purego

package kern

import "github.com/nl-hecate/hecate/runtime/cpu"

//go:noescape
func transposeAVX512(a *stripArgs)

//go:noescape
func transposeAVX2(a *stripArgs)

//go:noescape
func blocksAVX512(a *blockArgs)

//go:noescape
func blocksAVX2(a *blockArgs)

//go:noescape
func accumulateAVX512(to, from *float32, n int)

//go:noescape
func accumulateAVX2(to, from *float32, n int)

func transposeStrips(a *stripArgs) {
	if cpu.Active() == cpu.AVX512 {
		transposeAVX512(a)
		return
	}
	transposeAVX2(a)
}

func copyBlocks(a *blockArgs) {
	if cpu.Active() == cpu.AVX512 {
		blocksAVX512(a)
		return
	}
	blocksAVX2(a)
}

func accumulate(to, from *float32, n int) {
	if cpu.Active() == cpu.AVX512 {
		accumulateAVX512(to, from, n)
		return
	}
	accumulateAVX2(to, from, n)
}
