package engine

import (
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// A place is where a model computes.
type place struct {
	memory     device.Memory // nil: the processor
	arithmetic string
	name       string
	why        string // the processor, where a GPU was asked for if there is one
	close      func() error
}

// place opens a device by its name. The processor takes the place of a GPU only for
// auto, and then says why.
func (m *Modules) place(device string) (*place, error) {
	here := &place{arithmetic: cpu.Active().Arithmetic(), name: cpu.Active().String(), close: func() error { return nil }}
	word, number, _ := strings.Cut(device, ":")
	if word == "cpu" || word == "" {
		return here, nil
	}
	n, _ := strconv.Atoi(number) // "" is the first
	memory, info, done, err := cuda.OpenMemory(n, m.Kernels()...)
	switch {
	case err == nil:
		return &place{memory: memory, arithmetic: memory.String(), name: info.String(), close: done}, nil
	case word == "auto":
		here.why = err.Error()
		return here, nil
	}
	return nil, err
}
