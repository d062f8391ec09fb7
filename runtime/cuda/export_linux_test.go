//go:build linux && amd64 && !nogpu

package cuda

// Device is the device of a memory.
func (m *Memory) Device() *Device { return m.device }

// Library is where its kernels are from.
func (m *Memory) Library() *Library { return m.library }
