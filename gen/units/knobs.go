package units

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/notation"
)

// Knobs are the kinds of units that a formula of knobs combines, one of each.
var Knobs = []notation.UnitKind{notation.StructUnit, notation.BiasUnit, notation.RetentionUnit, notation.AlgorithmUnit}

// IsKnob reports whether a unit is a knob.
func IsKnob(u *notation.Unit) bool { return u != nil && slices.Contains(Knobs, u.Kind) }
