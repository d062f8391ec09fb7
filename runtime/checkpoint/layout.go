package checkpoint

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

const (
	lengthBytes = 8
	alignment   = 64        // of the data in the file
	maxHeader   = 100 << 20 // bytes; the limit of the format
)

func encode[E Element](data []E) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, data)
	if err != nil {
		panic("checkpoint: BUG: no encoding for an Element")
	}
	return b
}

func decode[E Element](dst []E, raw []byte) {
	if _, err := binary.Decode(raw, binary.LittleEndian, dst); err != nil {
		panic("checkpoint: BUG: no decoding for an Element")
	}
}

// A row is one tensor of the header.
type row struct {
	Type    Type         `json:"dtype"`
	Shape   tensor.Shape `json:"shape"`
	Offsets [2]int64     `json:"data_offsets"`
}

// order returns the names in the order of the data: wide elements first, then
// by name.
func (s *Snapshot) order() []string {
	names := s.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(s.tensors[b].typ.Size(), s.tensors[a].typ.Size())
	})
	return names
}

// header returns the length, the JSON and the padding; the same snapshot gives
// the same bytes.
func (s *Snapshot) header() ([]byte, error) {
	meta := map[string]string{arithmeticKey: cpu.Active().Bits()}
	for k, v := range s.meta {
		meta[k] = v
	}
	rows := map[string]any{reserved: meta}
	var at int64
	for _, name := range s.order() {
		e := s.tensors[name]
		end := at + int64(len(e.raw))
		shape := e.shape
		if shape == nil {
			shape = tensor.Shape{} // a scalar is [], not null
		}
		rows[name] = row{e.typ, shape, [2]int64{at, end}}
		meta[digestKey+name] = digest(e.raw)
		at = end
	}
	meta[sealKey] = s.seal(meta)
	var b bytes.Buffer
	b.Write(make([]byte, lengthBytes))
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(rows); err != nil { // maps are printed with sorted keys
		return nil, fmt.Errorf("checkpoint header: %w", err)
	}
	b.Truncate(b.Len() - 1) // the newline
	for b.Len()%alignment != 0 {
		b.WriteByte(' ')
	}
	binary.LittleEndian.PutUint64(b.Bytes(), uint64(b.Len()-lengthBytes))
	return b.Bytes(), nil
}

// seal is the digest of all that a header with this metadata says: names, types
// and shapes of the tensors, and every other metadata string, the digests of the
// elements among them.
func (s *Snapshot) seal(meta map[string]string) string {
	type tensorText struct {
		Type  Type
		Shape []int
	}
	all := struct {
		Tensors map[string]tensorText
		Meta    map[string]string
	}{map[string]tensorText{}, maps.Clone(meta)}
	delete(all.Meta, sealKey)
	for name, e := range s.tensors {
		all.Tensors[name] = tensorText{e.typ, append([]int{}, e.shape...)}
	}
	text, err := json.Marshal(all) // maps are printed with sorted keys
	if err != nil {
		panic("checkpoint: BUG: a header that cannot be printed")
	}
	return digest(text)
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// WriteTo writes the file's bytes to w.
func (s *Snapshot) WriteTo(w io.Writer) (int64, error) {
	head, err := s.header()
	if err != nil {
		return 0, err
	}
	n, err := w.Write(head)
	total := int64(n)
	for _, name := range s.order() {
		if err != nil {
			break
		}
		n, err = w.Write(s.tensors[name].raw)
		total += int64(n)
	}
	return total, err
}
