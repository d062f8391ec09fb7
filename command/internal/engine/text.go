package engine

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/validation/opticks"
)

// OpenText opens a file, or a default text; note names it.
func (m *Modules) OpenText(path string) (note string, t *stream.Text, err error) {
	switch {
	case path != "":
		note = path
		t, err = stream.Open(path)
	default:
		note = opticks.Note
		if t, err = stream.Open(opticks.Path()); err != nil {
			note = m.OwnName + ", the built-in text, because the text of the Go toolchain was not found"
			t, err = stream.FromDocuments(m.OwnName, m.OwnText)
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("text: %w", err)
	}
	return note, t, nil
}
