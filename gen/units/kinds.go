package units

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/notation"
)

// KindName is a unit kind with its article, as a sentence has it.
func KindName(k notation.UnitKind) string {
	name := k.String()
	switch k {
	case notation.OpUnit:
		name = "operation"
	case notation.ComposeUnit:
		name = "composition"
	}
	return Article(name)
}

// Article puts a or an before a word.
func Article(word string) string {
	if strings.ContainsRune("aio", rune(word[0])) || word == "update" {
		return "an " + word
	}
	return "a " + word
}
