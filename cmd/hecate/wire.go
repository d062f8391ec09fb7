package main

import (
	"fmt"

	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/generated/registry"
	"github.com/nl-hecate/hecate/generated/updates/adamw"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// catalog is what the generated code can build.
func catalog() build.Catalog[float32] {
	return build.Catalog[float32]{
		Models: registry.Models,
		New:    registry.NewModel[float32],
		Update: func(rate float64) build.Update[float32] {
			z := adamw.Defaults()
			if rate != 0 {
				z.LR = rate
			}
			return update{z}
		},
	}
}

// update is AdamW as the driver sees it.
type update struct{ z adamw.Settings }

func (u update) Name() string     { return "AdamW" }
func (u update) Rate() float64    { return u.z.LR }
func (u update) Settings() string { return fmt.Sprintf("%+v", u.z) }

func (u update) New(n int) build.Slots[float32] {
	return slots{u.z, adamw.NewSlots[float32](n)}
}

type slots struct {
	z adamw.Settings
	adamw.Slots[float32]
}

func (s slots) Apply(r *tape.Run[float32], n int, nodecay bool, w, g []float32) {
	adamw.Apply(r, s.z, n, nodecay, w, g, s.Slots)
}
