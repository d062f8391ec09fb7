package diag

// Codes of lowering and emission.
const (
	NotLowered Code = 6001
)

var emitCodes = map[Code]Explanation{
	NotLowered: {Summary: "A program that types and differentiates has no loop form: no page can be written that needs one which the compiler lacks, so this is a limit of the compiler and worth a report."},
}

// Codes of the command line.
const (
	Internal Code = 9001
)

var commandCodes = map[Code]Explanation{
	Internal: {Summary: "The compiler failed on a unit: a bug of hecategen and not of the page. Please report it together with the page. No page is known that provokes it, so there is no example."},
}
