package diag

import (
	"fmt"
	"maps"
	"slices"
)

// A Code names one kind of mistake. Codes are never renamed or reused.
type Code int

func (c Code) String() string { return fmt.Sprintf("HEC%04d", int(c)) }

// An Explanation is what `hecategen explain CODE` prints: when the code
// occurs, and one wrong and one right example. Every example is a `hecate`
// block that a test compiles, unless Page says that it is a whole page.
type Explanation struct {
	Summary string
	Wrong   string
	Right   string
	Page    bool
}

// explanations is the one table of codes: each stage registers its own rows
// from a file codes_STAGE.go in this package.
var explanations = map[Code]Explanation{}

func register(m map[Code]Explanation) {
	for c, e := range m {
		if _, twice := explanations[c]; twice {
			panic(fmt.Sprintf("diag: BUG: code %v is registered twice", c))
		}
		explanations[c] = e
	}
}

// Explain returns the explanation of a code.
func Explain(c Code) (Explanation, bool) { e, ok := explanations[c]; return e, ok }

// Codes returns all codes in order.
func Codes() []Code { return slices.Sorted(maps.Keys(explanations)) }
