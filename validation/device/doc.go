// Package device holds kernels of the library's archive to the generated Go kernels: launched
// through runtime/cuda by the manifest, on a driver that needs no GPU, in float32, against the
// same kernels in Go in float64; and whole builds there to builds on the processor.
package device
