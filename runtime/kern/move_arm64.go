//go:build !purego

package kern

//go:noescape
func transposeStrips(a *stripArgs)

//go:noescape
func copyBlocks(a *blockArgs)

//go:noescape
func accumulate(to, from *float32, n int)
