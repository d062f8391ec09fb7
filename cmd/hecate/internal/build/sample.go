package build

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/runtime/module"
)

// temperature divides the logits of a sample: below one, likely bytes come
// more often than the model says.
const temperature = 0.8

// sampling is how the text at the end of a build is drawn.
func sampling(n int, seed uint64) module.Sampling {
	return module.Sampling{Temperature: temperature, Limit: n, Seed: seed}
}

// bytesOf are drawn tokens as bytes.
func bytesOf(tokens []int32, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	out := make([]byte, len(tokens))
	for i, x := range tokens {
		out[i] = byte(x)
	}
	return out, nil
}

// printable turns bytes into text that is safe on a terminal: newlines stay,
// what is no printable UTF-8 becomes a middle dot.
func printable(text []byte) string {
	var s strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			s.WriteRune(r)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			s.WriteRune('·')
		default:
			s.WriteRune(r)
		}
		text = text[n:]
	}
	return s.String()
}
