//go:build nogpu || !linux || !(amd64 || arm64)

package cuda

import "github.com/nl-hecate/hecate/runtime/device"

// CompilerVersion says why there is no compiler of kernels.
func CompilerVersion() (string, error) {
	_, err := List()
	return "", err
}

// OpenMemory says why there is no device.
func OpenMemory(int, ...[]byte) (device.Memory, Info, func() error, error) {
	_, err := List()
	return nil, Info{}, nil, err
}

// List says why there are no devices.
func List() ([]Info, error) {
	return nil, &UnavailableError{"this build has no support of GPUs: it was made with the tag nogpu, or for a system other than Linux"}
}
