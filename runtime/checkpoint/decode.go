package checkpoint

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nl-hecate/hecate/runtime/cpu"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// Decode reads a file's bytes. The snapshot shares none of them. Any error
// wraps one of the errors of this package.
func Decode(file []byte) (*Snapshot, error) {
	if len(file) < lengthBytes {
		return nil, fail("", ErrTruncated, "%d bytes, want %d for the header's length", len(file), lengthBytes)
	}
	n := binary.LittleEndian.Uint64(file)
	if n > maxHeader {
		return nil, fail("", ErrHeader, "%d bytes long, at most %d", n, maxHeader)
	}
	body := file[lengthBytes:]
	if uint64(len(body)) < n {
		return nil, fail("", ErrTruncated, "header of %d bytes, %d are there", n, len(body))
	}
	rows, meta, err := parseHeader(body[:n])
	if err != nil {
		return nil, err
	}
	s := &Snapshot{meta: map[string]string{}, tensors: map[string]*entry{}}
	if err := s.place(rows, body[n:]); err != nil {
		return nil, err
	}
	return s, s.checkMeta(meta)
}

// parseHeader reads the header token by token, because encoding/json keeps
// silent about keys that appear twice.
func parseHeader(head []byte) (map[string]row, map[string]string, error) {
	if !utf8.Valid(head) {
		return nil, nil, fail("", ErrHeader, "not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(head))
	d.UseNumber()
	rows := map[string]row{}
	var meta map[string]string
	err := object(d, func(name string) (err error) {
		if name == reserved {
			if meta != nil {
				return fail(name, ErrDuplicate, "")
			}
			meta = map[string]string{}
			return parseMeta(d, meta)
		}
		if _, ok := rows[name]; ok {
			return fail(name, ErrDuplicate, "")
		}
		rows[name], err = parseRow(d, name)
		return err
	})
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) { // of encoding/json
		err = fail("", ErrHeader, "%v", err)
	}
	if err != nil {
		return nil, nil, err
	}
	if rest := strings.Trim(string(head[d.InputOffset():]), " "); rest != "" {
		return nil, nil, fail("", ErrHeader, "text after the object")
	}
	return rows, meta, nil
}

// object reads { key: value, … }, calling f to read each value.
func object(d *json.Decoder, f func(key string) error) error {
	if err := delim(d, '{'); err != nil {
		return err
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		if err := f(t.(string)); err != nil { // the decoder refuses other keys
			return err
		}
	}
	return delim(d, '}')
}

func delim(d *json.Decoder, want json.Delim) error {
	switch t, err := d.Token(); {
	case err == io.EOF:
		return errors.New("ends early")
	case err != nil:
		return err
	case t != want:
		return fmt.Errorf("%v where %v is expected", t, want)
	}
	return nil
}

func parseMeta(d *json.Decoder, meta map[string]string) error {
	return object(d, func(key string) error {
		if _, ok := meta[key]; ok {
			return fail(reserved+"."+key, ErrDuplicate, "")
		}
		t, err := d.Token()
		if err != nil {
			return err
		}
		v, ok := t.(string)
		if !ok {
			return fail(reserved+"."+key, ErrHeader, "value is not a string")
		}
		meta[key] = v
		return nil
	})
}

func parseRow(d *json.Decoder, name string) (row, error) {
	var r row
	seen := map[string]bool{}
	err := object(d, func(key string) error {
		if seen[key] {
			return fail(name, ErrDuplicate, "%s", key)
		}
		seen[key] = true
		switch key {
		case "dtype":
			t, err := d.Token()
			if err != nil {
				return err
			}
			v, _ := t.(string)
			if r.Type = Type(v); r.Type.Size() == 0 {
				return fail(name, ErrType, "%v", t)
			}
			return nil
		case "shape":
			axes, err := integers(d)
			r.Shape = tensor.Shape{}
			for _, n := range axes {
				if n > math.MaxInt {
					return fail(name, ErrShape, "axis of %d", n)
				}
				r.Shape = append(r.Shape, int(n))
			}
			return err
		case "data_offsets":
			o, err := integers(d)
			if err == nil && len(o) != 2 {
				return fail(name, ErrOffsets, "%d numbers, want 2", len(o))
			}
			copy(r.Offsets[:], o)
			return err
		}
		return fail(name, ErrHeader, "unknown key %q", key)
	})
	if err == nil && len(seen) != 3 {
		return r, fail(name, ErrHeader, "want dtype, shape and data_offsets")
	}
	return r, err
}

// integers reads [n, …] of non-negative integers.
func integers(d *json.Decoder) ([]int64, error) {
	if err := delim(d, '['); err != nil {
		return nil, err
	}
	var out []int64
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, ok := t.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", t)
		}
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err != nil || n < 0 || v.String() == "-0" {
			return nil, fmt.Errorf("%v is not a size", v)
		}
		out = append(out, n)
	}
	return out, delim(d, ']')
}

// place cuts the data into tensors. In the order of their offsets they must
// cover it from the first byte to the last, each as long as its shape says.
func (s *Snapshot) place(rows map[string]row, data []byte) error {
	names := slices.SortedFunc(maps.Keys(rows), func(a, b string) int {
		x, y := rows[a].Offsets, rows[b].Offsets
		return cmp.Or(slices.Compare(x[:], y[:]), strings.Compare(a, b))
	})
	at := int64(0)
	for _, name := range names {
		r := rows[name]
		lo, hi := r.Offsets[0], r.Offsets[1]
		switch {
		case name == "":
			return fail("", ErrHeader, "a tensor without a name")
		case hi > int64(len(data)):
			return fail(name, ErrTruncated, "bytes [%d, %d) of %d", lo, hi, len(data))
		case lo != at || hi < lo:
			return fail(name, ErrOffsets, "[%d, %d) after byte %d", lo, hi, at)
		}
		n, err := r.Shape.Size()
		if err != nil || n > math.MaxInt64/r.Type.Size() || int64(n*r.Type.Size()) != hi-lo {
			return fail(name, ErrShape, "%v of %s in %d bytes", r.Shape, r.Type, hi-lo)
		}
		s.tensors[name] = &entry{typ: r.Type, shape: r.Shape, raw: slices.Clone(data[lo:hi])}
		at = hi
	}
	if at != int64(len(data)) {
		return fail("", ErrTrailing, "%d of them", int64(len(data))-at)
	}
	return nil
}

// checkMeta compares the arithmetic level and the digests, and keeps the rest.
func (s *Snapshot) checkMeta(meta map[string]string) error {
	bits, ok := meta[arithmeticKey]
	if !ok {
		return fail("", ErrMetadata, "no arithmetic level")
	}
	if !strings.Contains(bits, "/") {
		bits += "/1" // the first version had no number
	}
	switch arithmetic, version, _ := strings.Cut(bits, "/"); {
	case arithmetic != cpu.Active().Arithmetic():
		return fail("", ErrArithmetic, "file has %q, this program runs %q (%s; the environment variable %s chooses)",
			bits, cpu.Active().Bits(), cpu.Active(), cpu.Env)
	case bits != cpu.Active().Bits():
		return fail("", ErrArithmetic, "file has version %s of the arithmetic %s, this program runs version %d, which rounds otherwise",
			version, arithmetic, cpu.Version)
	}
	for _, name := range s.Names() {
		saved, ok := meta[digestKey+name]
		if !ok {
			return fail(name, ErrMetadata, "no digest")
		}
		if d := digest(s.tensors[name].raw); d != saved {
			return fail(name, ErrDigest, "file says %s, elements give %s", saved, d)
		}
	}
	for k, v := range meta {
		if name, isDigest := strings.CutPrefix(k, digestKey); isDigest {
			if _, ok := s.tensors[name]; !ok {
				return fail(name, ErrMissing, "the file has its digest only")
			}
		}
		if !reservedKey(k) {
			s.meta[k] = v
		}
	}
	switch saved, ok := meta[sealKey]; {
	case !ok:
		return fail("", ErrMetadata, "no digest of the header")
	case saved != s.seal(meta):
		return fail("", ErrDigest, "header says %s, its own text gives %s", saved, s.seal(meta))
	}
	return nil
}
