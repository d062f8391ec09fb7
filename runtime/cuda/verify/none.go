//go:build nogpu || !linux || !(amd64 || arm64)

package verify

import (
	"context"

	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// On says why there is no device.
func On(context.Context, int, *cuda.Library, func(string) (device.Reference, bool), Options, func(cuda.Info, int), func(Row) error) error {
	_, err := cuda.List()
	return err
}
