package main

import (
	"github.com/nl-hecate/hecate/cmd/hecate/internal/engine"
	"github.com/nl-hecate/hecate/generated/registry"
)

// modules is what the commands work with: what the generated code has.
func modules() *engine.Modules {
	return &engine.Modules{Catalog: engine.Catalog{
		Spec:      registry.Spec,
		Pages:     registry.Pages(),
		New:       registry.NewModel[float32],
		Updates:   registry.Updates,
		Buffers:   registry.Buffers,
		NewUpdate: registry.NewUpdate[float32],
		OwnText:   crossroads,
		OwnName:   "crossroads.txt",
	}}
}
