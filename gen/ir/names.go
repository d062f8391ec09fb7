package ir

import "strings"

// Names that carry meaning. A program in text form has no other place for it,
// so these are the only literals; code asks the functions below.
const (
	temporaryPrefix = "%" // a value that the page does not name
	adjointSuffix   = ".bar"
)

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
