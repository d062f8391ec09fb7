package parser

// Known returns the names that blocks define as functions, operations or
// parts. A caller with several pages gathers them first, because `name(` is a
// call only where the name is known.
func Known(blocks []Input) map[string]bool { return Scan(nil, blocks).names }
