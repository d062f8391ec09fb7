// Package cuda holds the text of the device side: what every printed kernel
// includes (include), and the shim that runs kernels on the processor (shim).
package cuda

import "embed"

// Text is include/*.cuh and shim/*.{h,cpp}.
//
//go:embed include/*.cuh shim/*.h shim/*.cpp
var Text embed.FS
