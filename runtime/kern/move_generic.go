//go:build !(amd64 || arm64) || purego

package kern

func transposeStrips(*stripArgs)         { panic("no assembly in this build") }
func copyBlocks(*blockArgs)              { panic("no assembly in this build") }
func accumulate(*float32, *float32, int) { panic("no assembly in this build") }
