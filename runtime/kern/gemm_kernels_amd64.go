//go:build !purego

package kern

import "github.com/nl-hecate/hecate/runtime/cpu"

//go:noescape
func gemmBlock512(p *gemmBlock)

//go:noescape
func gemmBlock256(p *gemmBlock)

//go:noescape
func gemmPackColumns512(p *gemmPack)

//go:noescape
func gemmPackColumns256(p *gemmPack)

//go:noescape
func gemmPackRow512(p *gemmPack)

//go:noescape
func gemmPackRow256(p *gemmPack)

//go:noescape
func gemmPackRows512(p *gemmPack)

//go:noescape
func gemmPackRows256(p *gemmPack)

//go:noescape
func triangleBlock512(p *triangleBlock)

//go:noescape
func triangleBlock256(p *triangleBlock)

func kernels(level cpu.Target) blockKernels {
	if level == cpu.AVX512 {
		return blockKernels{32, 14, gemmBlock512, gemmPackColumns512, gemmPackRow512, gemmPackRows512, 64, triangleBlock512}
	}
	return blockKernels{16, 6, gemmBlock256, gemmPackColumns256, gemmPackRow256, gemmPackRows256, 16, triangleBlock256}
}
