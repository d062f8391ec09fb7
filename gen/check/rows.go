package check

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Where the rows of a state lie is said by its type, or by a property that some
// page of its rule provides.

// RowSets are the properties that say in which set the rows of a state are.
var RowSets = map[string]notation.TypeKind{"UnitSphere": notation.SphereType, "ProbabilitySimplex": notation.SimplexType, "Simplex": notation.SimplexType}

// RowSet is the kind of set that the rows of a state are declared to lie in: by
// its type, or where that is real by what the rule provides.
func (b *Block) RowSet(s *Symbol) notation.TypeKind {
	if s.Type == nil {
		return notation.RealType
	}
	if s.Type.Kind == notation.RealType {
		for _, pr := range b.Provides {
			for _, m := range pr.Marks {
				if kind, rows := RowSets[m.Name.Text]; rows && !pr.Needs && b.meant(m, s) {
					return kind
				}
			}
		}
	}
	return s.Type.Kind
}

// meant reports whether a property speaks of a state: by its name, or, on the
// page of a knob, of any weight.
func (b *Block) meant(m *notation.Mark, state *Symbol) bool {
	return slices.ContainsFunc(m.Args, func(a notation.Word) bool {
		if named := b.Symbols[a.Text]; named != nil && named.Kind == State {
			return named == state
		}
		return state.Unit != nil && state.Unit.Kind == notation.StructUnit
	})
}
