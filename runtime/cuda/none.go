//go:build nogpu || !linux || !(amd64 || arm64)

package cuda

import (
	"context"
	"io"

	"github.com/nl-hecate/hecate/runtime/device"
)

// CompilerVersion says why there is no compiler of kernels.
func CompilerVersion() (string, error) {
	_, err := List()
	return "", err
}

// Compiles says why there is no compiler of kernels.
func Compiles(Info) error {
	_, err := List()
	return err
}

// OpenMemory says why there is no device.
func OpenMemory(int, *Library) (*Opened, error) {
	_, err := List()
	return nil, err
}

// List says why there are no devices.
func List() ([]Info, error) {
	return nil, &UnavailableError{"this build has no support of GPUs: it was made with the tag nogpu, or for a system other than Linux"}
}

// WriteImages says why there is no compiler of kernels.
func WriteImages(context.Context, io.Writer, *Library, []Variant, []string, func(Variant, string)) error {
	_, err := List()
	return err
}

// A DryRun is a memory without a device: see its other form.
type DryRun struct{ device.Memory }

// NewDryRun says why there is no device.
func NewDryRun(*Library) (*DryRun, error) {
	_, err := List()
	return nil, err
}

// Variants are none.
func (*DryRun) Variants() []Variant { return nil }

// Bytes are none.
func (*DryRun) Bytes() int { return 0 }

// Close does nothing.
func (*DryRun) Close() error { return nil }

// Measure says why there is no device.
func Measure(int) (Ceilings, error) {
	_, err := List()
	return Ceilings{}, err
}
