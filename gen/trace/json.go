package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// JSON is the content of trace.json: one object a line, so that a difference
// between two of them can be read.
func (t *Trace) JSON() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n\"format\": %d,\n", t.Format)
	list(&b, "units", t.Units, ",")
	list(&b, "equations", t.Equations, ",")
	list(&b, "symbols", t.Symbols, ",")
	list(&b, "tests", t.Tests, ",")
	list(&b, "declared", t.Declared, "")
	b.WriteString("}\n")
	return b.Bytes()
}

func list[T any](b *bytes.Buffer, name string, items []T, comma string) {
	fmt.Fprintf(b, "%q: [", name)
	for i, it := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  ")
		e := json.NewEncoder(b)
		e.SetEscapeHTML(false)
		if err := e.Encode(it); err != nil {
			panic(fmt.Sprintf("trace: BUG: %v", err))
		}
		b.Truncate(b.Len() - 1) // the encoder ends with a newline
	}
	if len(items) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "]%s\n", comma)
}
