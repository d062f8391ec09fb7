package checkpoint

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// content is what a snapshot says: two files of equal content are written as the
// same bytes.
func content(t testing.TB, s *Snapshot) []byte { return file(t, s) }

// holds wants a spoilt file to be refused with a typed error, or to say what the
// good one says. It reports whether it was refused.
func holds(t *testing.T, what string, spoilt, good []byte) bool {
	t.Helper()
	s, err := Decode(spoilt)
	if err != nil {
		var e *Error
		if !errors.As(err, &e) {
			t.Fatalf("%s: error without a type: %v", what, err)
		}
		return true
	}
	if !bytes.Equal(content(t, s), good) {
		t.Fatalf("%s: accepted, and says something else", what)
	}
	return false
}

// TestEveryByte cuts a checkpoint at every byte, flips every bit of it, and puts
// another value in the place of every byte.
func TestEveryByte(t *testing.T) {
	good := file(t, sample(t))
	random := rand.New(rand.NewPCG(1, 2))
	equal := 0
	for i := range good {
		if !holds(t, "cut", good[:i], good) {
			t.Fatalf("a file cut at byte %d of %d is accepted", i, len(good))
		}
		spoilt := slices.Clone(good)
		for bit := range 8 {
			spoilt[i] = good[i] ^ 1<<bit
			if !holds(t, "a flipped bit", spoilt, good) {
				equal++
			}
		}
		spoilt[i] = byte(random.Uint32())
		holds(t, "another byte", spoilt, good)
		spoilt = slices.Delete(slices.Clone(good), i, i+1)
		holds(t, "a byte left out", spoilt, good)
		spoilt = slices.Insert(slices.Clone(good), i, byte(random.Uint32()))
		holds(t, "a byte put in", spoilt, good)
	}
	for _, typ := range []string{"I64", "U64"} {
		if !holds(t, "another type", bytes.Replace(good, []byte("F64"), []byte(typ), 1), good) {
			t.Errorf("numbers of type %s in the place of F64 are accepted", typ)
		}
	}
	t.Logf("%d bytes, %d bits: %d accepted and equal", len(good), 8*len(good), equal)
}

// TestReordered writes the tensors of a checkpoint in many orders, with the
// header's keys in other orders too: the format leaves that open, and it says the
// same. Elements in another order under the old header are refused.
func TestReordered(t *testing.T) {
	s := sample(t)
	good := file(t, s)
	random := rand.New(rand.NewPCG(3, 4))
	refused := 0
	for range 200 {
		names := s.Names()
		random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var data []byte
		head := map[string]any{}
		for _, n := range names {
			e := s.tensors[n]
			shape := append([]int{}, e.shape...)
			head[n] = map[string]any{"shape": shape, "dtype": e.typ, "data_offsets": []int{len(data), len(data) + len(e.raw)}}
			data = append(data, e.raw...)
		}
		head[reserved] = metadata(t, good)
		if holds(t, "other order", build(print(t, head, random), data), good) {
			t.Fatal("tensors in another order are refused")
		}
		old := slices.Clone(good)
		copy(old[len(good)-len(data):], data)
		if holds(t, "other order, old header", old, good) {
			refused++
		}
	}
	if refused < 150 {
		t.Errorf("only %d of 200 orders are refused under the old header", refused)
	}
}

// metadata is that of a file.
func metadata(t *testing.T, file []byte) map[string]string {
	t.Helper()
	head := file[lengthBytes : lengthBytes+binary.LittleEndian.Uint64(file)]
	var all map[string]json.RawMessage
	if err := json.Unmarshal(head, &all); err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{}
	if err := json.Unmarshal(all[reserved], &meta); err != nil {
		t.Fatal(err)
	}
	return meta
}

// print prints an object with its keys in a drawn order.
func print(t *testing.T, head map[string]any, random *rand.Rand) string {
	t.Helper()
	keys := slices.Sorted(maps.Keys(head))
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var parts []string
	for _, k := range keys {
		name, err := json.Marshal(k)
		if err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(head[k])
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, string(name)+": "+string(value))
	}
	return "{" + strings.Join(parts, " ,\n") + "}"
}
