//go:build !(amd64 || arm64) || purego

package kern

import "github.com/nl-hecate/hecate/runtime/cpu"

// gemmFast is for machines with assembly.
func gemmFast(cpu.Target, int, int, int, float32, bool, []float32, int, []float32, int, int, []float32, int, int) bool {
	return false
}

func triangleFast(cpu.Target, int, int, bool, []float32, int, []float32, int, int) bool { return false }
