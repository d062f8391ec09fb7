//go:build !purego

package kern

import "github.com/nl-hecate/hecate/runtime/cpu"

//go:noescape
func gemmBlockNEON(p *gemmBlock)

//go:noescape
func gemmPackColumnsNEON(p *gemmPack)

//go:noescape
func gemmPackRowNEON(p *gemmPack)

//go:noescape
func gemmPackRowsNEON(p *gemmPack)

//go:noescape
func triangleBlockNEON(p *triangleBlock)

func kernels(cpu.Target) blockKernels {
	return blockKernels{16, 6, gemmBlockNEON, gemmPackColumnsNEON, gemmPackRowNEON, gemmPackRowsNEON, 16, triangleBlockNEON}
}
