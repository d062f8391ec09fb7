package ir

import (
	"strings"
)

// Names that carry meaning. The text form has no other place for it, and
// checkpoints and generated code show the names, so their literals are here and
// nowhere else; code calls the functions below.
const (
	temporaryPrefix = "%" // a value that the page does not name
	adjointSuffix   = ".bar"
	backwardSuffix  = ".backward"
	windowSuffix    = ".tail"
	frozenSuffix    = ".frozen"
	initialSuffix   = ".start"
	partInputSuffix = ".in"
)

// Position is the name of the state that counts the tokens before a call.
const Position = "pos"

// Temporary reports whether a value has no name from the page.
func (v *Value) Temporary() bool { return strings.HasPrefix(v.Name, temporaryPrefix) }

// Label is a name for a value that leaves its program: its own, or for a
// temporary the equation that it is part of and the primitive that computes it,
// such as k1_sigmoid.
func (v *Value) Label() string {
	if !v.Temporary() {
		return v.Name
	}
	eq := v.Def.Eq[strings.LastIndexByte(v.Def.Eq, '.')+1:]
	return strings.TrimPrefix(eq+"_"+v.Def.Op.String(), "_")
}

// AdjointName is the name of the adjoint of a parameter or result.
func AdjointName(of string) string { return of + adjointSuffix }

// AdjointOf returns the parameter or result whose adjoint has this name; ok is
// false for any other name.
func AdjointOf(name string) (of string, ok bool) { return strings.CutSuffix(name, adjointSuffix) }

// BackwardName is the name of the backward of a program.
func BackwardName(program string) string { return program + backwardSuffix }

// WindowName is the name of the state that keeps the last entries of a series
// for a window.
func WindowName(series string) string { return series + windowSuffix }

// WindowOf returns the series that a window state of this name keeps; ok is
// false for any other name.
func WindowOf(name string) (series string, ok bool) { return strings.CutSuffix(name, windowSuffix) }

// IsWindow reports whether a parameter is a window state.
func (v *Value) IsWindow() bool { return v.Role == State && strings.HasSuffix(v.Name, windowSuffix) }

// IsWindow reports whether a result is a window state after the call.
func (r Result) IsWindow() bool { return r.State && strings.HasSuffix(r.Name, windowSuffix) }

// IsPosition reports whether a parameter counts the tokens before a call, of the
// program or of a part in it.
func (v *Value) IsPosition() bool {
	return v.Role == State && v.Elem == Int && v.Name[strings.LastIndexByte(v.Name, '.')+1:] == Position
}

// FrozenName is the name of the program that reads the memory of a unit and does
// not write it.
func FrozenName(unit string) string { return unit + frozenSuffix }

// InitialName is the name of the program of a unit, or of the equation of a
// state, that computes initial values.
func InitialName(of string) string { return of + initialSuffix }

// InitialOf returns the unit or equation whose InitialName a name is; ok is false
// for any other name.
func InitialOf(name string) (of string, ok bool) { return strings.CutSuffix(name, initialSuffix) }

// MovesState reports whether a program of a unit is its step, and neither a
// frozen read nor the program of its initial states.
func (f *Func) MovesState() bool {
	return !strings.HasSuffix(f.Name, frozenSuffix) && !strings.HasSuffix(f.Name, initialSuffix)
}

// PartInputName is the name of the argument of a call of a part.
func PartInputName(part string, frozen bool) string {
	if frozen {
		part += frozenSuffix
	}
	return part + partInputSuffix
}

// IsPartInput reports whether an input is the argument of a call of a part.
func (v *Value) IsPartInput() bool { return strings.HasSuffix(v.Name, partInputSuffix) }
