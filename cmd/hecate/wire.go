package main

import (
	"github.com/nl-hecate/hecate/cmd/hecate/internal/build"
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
