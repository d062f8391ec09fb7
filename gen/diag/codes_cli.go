package diag

// Codes of the command line.
const (
	// Internal occurs when the compiler itself fails on a unit.
	Internal Code = 9001
)

var _ = registered(map[Code]Explanation{
	Internal: {
		Summary: "The compiler failed on a unit: a bug of hecategen and not of the page. Please report it together with the page. No page is known that provokes it, so there is no example.",
	},
})
