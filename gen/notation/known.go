package notation

import "github.com/nl-hecate/hecate/gen/diag"

// Known returns the names that blocks define as functions, operations or
// parts. A caller with several pages gathers them first, because `name(` is a
// call only where the name is known.
func Known(blocks []Input) map[string]bool {
	var muted diag.List
	known := map[string]bool{}
	for i := range blocks {
		declared(joinLines(scan(&blocks[i], &muted)), known)
	}
	return known
}
