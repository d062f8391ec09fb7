package diag

// Codes of lowering and emission.
const (
	// NotLowered occurs when a program that types and differentiates has no
	// loop form yet.
	NotLowered Code = 6001
)

func init() {
	register(map[Code]Explanation{
		NotLowered: {Summary: "A program that types and differentiates has no loop form: no page can be written that needs one which the compiler lacks, so this is a limit of the compiler and worth a report."},
	})
}
