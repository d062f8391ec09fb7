package engine

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/validation/opticks"
)

// openText opens a file, or a text that is at hand; note says which it is.
func (m *Modules) openText(path string) (note string, t *stream.Text, err error) {
	switch {
	case path != "":
		note = path
		t, err = stream.Open(path)
	default:
		note = opticks.Note
		if t, err = stream.Open(opticks.Path()); err != nil {
			note = m.OwnName + ", our own small text, because the Go toolchain's was not found"
			t, err = stream.FromDocuments(m.OwnName, m.OwnText)
		}
	}
	if err != nil {
		return "", nil, fmt.Errorf("text: %w", err)
	}
	return note, t, nil
}
