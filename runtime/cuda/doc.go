// Package cuda runs compiled kernels on NVIDIA GPUs: it is the driver API, without cgo and
// without the CUDA toolkit.
//
// The library libcuda is opened when it is asked for. Where it is missing, or has no
// device, Open and List say so in an *UnavailableError; every other failure is an *Error with the
// call of the driver, the kernel and the device.
//
//	infos, err := cuda.List()
//	d, err := cuda.Open(0)
//	defer d.Close()
//	m, err := d.Load(image)           // machine code or PTX
//	f, err := m.Function("axpy")
//	x, err := d.Alloc(4 * n)
//	err = d.Upload(x, bytes)          // waits
//	err = d.Launch(f, cuda.Grid{Blocks: (n + 255) / 256, Threads: 256}, cuda.Pointer(x), cuda.Int(n))
//	err = d.Download(bytes, x)        // waits
//
// An image is one of a kernel at sizes of a model, from a file that was made before (Images, WriteImages), from the
// user's cache, or made by NVRTC; Choose says which of several a device takes. A DryRun notes which ones a program
// will ask for.
//
// A Device has one stream: what is enqueued runs in that order. Its methods may be called
// from any goroutine, one at a time; the context belongs to a thread of the operating
// system, so each call sets it on the thread that it has. A fault in a kernel is reported by
// the next call that waits, and from then on by every call: such a device is lost.
//
// With the build tag nogpu, and on systems other than Linux, there is only the answer that
// no device can be used.
package cuda
