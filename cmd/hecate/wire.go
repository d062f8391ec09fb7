package main

import (
	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
	"github.com/nl-hecate/hecate/cmd/hecate/internal/engine"
	"github.com/nl-hecate/hecate/generated/registry"
)

// catalog is what the generated code can build.
func catalog() build.Catalog[float32] {
	return build.Catalog[float32]{
		Models:    registry.Models,
		New:       registry.NewModel[float32],
		Updates:   registry.Updates,
		NewUpdate: registry.NewUpdate[float32],
	}
}

// present is what the commands work with.
func present() *engine.Present {
	return &engine.Present{Catalog: catalog(), Rules: registry.Rules, Fallback: build.Fallback{Name: "crossroads.txt", Text: crossroads}}
}
