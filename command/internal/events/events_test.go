package events

import (
	"encoding/binary"
	"math"
	"os"
	"reflect"
	"testing"
	"time"
)

// A read is one event as the reader below sees it.
type read struct {
	wall    float64
	step    int64
	version string
	status  uint64
	scalars map[string]float32
}

// crc is CRC-32C bit by bit, from its polynomial.
func crc(b []byte) uint32 {
	c := ^uint32(0)
	for _, x := range b {
		c ^= uint32(x)
		for range 8 {
			low := c & 1
			c >>= 1
			if low == 1 {
				c ^= 0x82f63b78
			}
		}
	}
	return ^c
}

func unmask(m uint32) uint32 {
	m -= 0xa282ead8
	return m<<15 | m>>17
}

// fields cuts a protocol buffer into fields.
func fields(t *testing.T, b []byte, f func(field uint64, num uint64, data []byte)) {
	t.Helper()
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		b = b[n:]
		switch key & 7 {
		case 0:
			x, n := binary.Uvarint(b)
			b = b[n:]
			f(key>>3, x, nil)
		case 1:
			f(key>>3, binary.LittleEndian.Uint64(b), nil)
			b = b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			f(key>>3, 0, b[n:n+int(size)])
			b = b[n+int(size):]
		case 5:
			f(key>>3, uint64(binary.LittleEndian.Uint32(b)), nil)
			b = b[4:]
		default:
			t.Fatalf("wire type %d", key&7)
		}
	}
}

// readFile reads an event file with none of the code that wrote it.
func readFile(t *testing.T, path string) (out []read) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 {
		size := binary.LittleEndian.Uint64(b)
		if got := unmask(binary.LittleEndian.Uint32(b[8:])); got != crc(b[:8]) {
			t.Fatalf("checksum %x of a length, want %x", got, crc(b[:8]))
		}
		data := b[12 : 12+size]
		if got := unmask(binary.LittleEndian.Uint32(b[12+size:])); got != crc(data) {
			t.Fatalf("checksum %x of an event, want %x", got, crc(data))
		}
		b = b[16+size:]
		r := read{scalars: map[string]float32{}}
		fields(t, data, func(field, num uint64, sub []byte) {
			switch field {
			case 1:
				r.wall = math.Float64frombits(num)
			case 2:
				r.step = int64(num)
			case 3:
				r.version = string(sub)
			case 5:
				fields(t, sub, func(_, _ uint64, value []byte) {
					tag := ""
					fields(t, value, func(field, num uint64, sub []byte) {
						if field == 1 {
							tag = string(sub)
						} else {
							r.scalars[tag] = math.Float32frombits(uint32(num))
						}
					})
				})
			case 7:
				fields(t, sub, func(_, num uint64, _ []byte) { r.status = num })
			default:
				t.Errorf("field %d of an event", field)
			}
		})
		out = append(out, r)
	}
	return out
}

func TestReadBack(t *testing.T) {
	if got := crc([]byte("123456789")); got != 0xe3069283 {
		t.Fatalf("the reader's checksum is wrong: %x", got)
	}
	dir := t.TempDir()
	now := time.Unix(1700000000, 500_000_000)
	w, err := Create(dir, 301, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Scalars(now.Add(time.Second), 301, Scalar{"loss/bits", 3.25}, Scalar{"loss/ρ", -1e-9}); err != nil {
		t.Fatal(err)
	}
	if err := w.Scalars(now.Add(2*time.Second), 1<<40, Scalar{"x", math.Inf(1)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	none := map[string]float32{}
	want := []read{
		{1700000000.5, 0, "brain.Event:2", 0, none},
		{1700000000.5, 301, "", 1, none},
		{1700000001.5, 301, "", 0, map[string]float32{"loss/bits": 3.25, "loss/ρ": -1e-9}},
		{1700000002.5, 1 << 40, "", 0, map[string]float32{"x": float32(math.Inf(1))}},
	}
	if got := readFile(t, w.Path()); !reflect.DeepEqual(got, want) {
		t.Errorf("read back:\n%+v\nwant\n%+v", got, want)
	}
	again, err := Create(dir, 1, now)
	if err != nil {
		t.Fatal(err)
	}
	if again.Path() == w.Path() {
		t.Error("two attempts in a second share a file")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestKnown holds a record to bytes that another implementation wrote: the event
// of a version at time 0.
func TestKnown(t *testing.T) {
	w, err := Create(t.TempDir(), 1, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(w.Path())
	if err != nil {
		t.Fatal(err)
	}
	const event = "\x09\x00\x00\x00\x00\x00\x00\x00\x00\x1a\x0dbrain.Event:2"
	if got := string(b[12 : 12+24]); got != event {
		t.Errorf("%q, want %q", got, event)
	}
	if string(b[:8]) != "\x18\x00\x00\x00\x00\x00\x00\x00" || unmask(binary.LittleEndian.Uint32(b[8:])) != crc(b[:8]) {
		t.Errorf("head %x", b[:12])
	}
}
