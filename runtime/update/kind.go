package update

import "github.com/nl-hecate/hecate/runtime/context"

// Kinds is a set of kinds of parameters.
type Kinds uint8

// The kinds. A parameter of two or more axes is a matrix, or an embedding if its page says
// entrywise: the rows of a table belong to symbols or positions. The others are vectors.
const (
	Matrices Kinds = 1 << iota
	Embeddings
	Vectors
)

// KindNames are the kinds by name.
var KindNames = map[string]Kinds{"matrices": Matrices, "embeddings": Embeddings, "vectors": Vectors}

// KindOf is the kind of a parameter.
func KindOf(p context.Param) Kinds {
	switch {
	case len(p.Shape) < 2:
		return Vectors
	case p.Entrywise:
		return Embeddings
	}
	return Matrices
}
