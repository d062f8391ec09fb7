//go:build nogpu || !linux || !(amd64 || arm64)

package cuda

// CompilerVersion says why there is no compiler of kernels.
func CompilerVersion() (string, error) {
	_, err := List()
	return "", err
}

// List says why there are no devices.
func List() ([]Info, error) {
	return nil, &UnavailableError{"this build has no support of GPUs: it was made with the tag nogpu, or for a system other than Linux"}
}
