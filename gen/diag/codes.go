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

// explanations is the table of all codes. A file codes_STAGE.go has the constants of a stage,
// and their rows say when each occurs.
var explanations = merged(pageCodes, referenceCodes, notationCodes, checkCodes, formulaCodes, typeCodes, proofCodes, emitCodes, commandCodes)

func merged(tables ...map[Code]Explanation) map[Code]Explanation {
	all := map[Code]Explanation{}
	for _, rows := range tables {
		for c, e := range rows {
			if _, twice := all[c]; twice {
				panic(fmt.Sprintf("diag: BUG: code %v has two rows", c))
			}
			all[c] = e
		}
	}
	return all
}

// Explain returns the explanation of a code.
func Explain(c Code) (Explanation, bool) { e, ok := explanations[c]; return e, ok }

// Codes returns all codes in order.
func Codes() []Code { return slices.Sorted(maps.Keys(explanations)) }
