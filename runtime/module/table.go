package module

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"

	"github.com/nl-hecate/hecate/runtime/checkpoint"
	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// All numbers of a session are in one table: the names of its tensors, their shapes
// and their memory. Saving writes the rows and restoring reads them, so both know the
// same tensors. The order of the
// parameters is that of their own table, which the forward and the update follow
// too.

// A row is one tensor of a session and its memory. data is []F, []int32 or
// []int64; what a file holds of []int32 is I64.
type row struct {
	name  string
	shape tensor.Shape
	data  any
}

// Prefixes and names of the tensors that are not a slot's memory.
const (
	paramPrefix  = "param."
	updatePrefix = "update." // update.NAME.SLOT.PARAMETER
	bufferPrefix = "buffer." // buffer.SLOT.PARAMETER
	updatesName  = "clock.fires"
	waitsName    = "clock.waits"
	pulseName    = "conductor.pulse"
	cursorsName  = "conductor.cursors"
)

// parameters are the rows of the parameters.
func (m *Module[F]) parameters() (rows []row) {
	v := m.params.View()
	for i := range v.Len() {
		p := v.Param(i)
		rows = append(rows, row{paramPrefix + p.Name, p.Shape, v.Data(i)})
	}
	return rows
}

// moved are the rows of the updates' state: for each parameter the slots of its
// update, under the name of that update. There are none without an update.
func (m *Module[F]) moved() (rows []row) {
	if m.optimizer == nil {
		return nil
	}
	v := m.params.View()
	for i := range v.Len() {
		s := m.optimizer.Slots(i)
		if s == nil {
			continue
		}
		p := v.Param(i)
		s.Each(func(slot string, data []F) {
			rows = append(rows, row{updatePrefix + s.By() + "." + slot + "." + p.Name, p.Shape, data})
		})
		m.optimizer.Buffers(i, func(slot string, data []F) {
			rows = append(rows, row{bufferPrefix + slot + "." + p.Name, p.Shape, data})
		})
	}
	return rows
}

// rows are those of a context memory.
func (m *Memory[F]) rows() (rows []row) {
	m.each(func(name string, shape []int, data []F) { rows = append(rows, row{name, shape, data}) })
	m.EachPos(func(name string, pos []int32) { rows = append(rows, row{name, tensor.Shape{len(pos)}, pos}) })
	return rows
}

// write adds rows to a snapshot. A number that is NaN or infinite is a *BadNumber:
// a diverged state is not saved, so that it cannot replace a good one.
func write[F Float](s *checkpoint.Snapshot, rows []row) error {
	var errs []error
	for _, r := range rows {
		switch data := r.data.(type) {
		case []F:
			data = device.Host(data)
			for i, x := range data {
				if !num.IsFinite(x) {
					return &BadNumber{What: whatSaved, Value: float64(x), Slot: -1, Level: -1, Token: -1, Tensor: r.name, Index: i}
				}
			}
			errs = append(errs, checkpoint.Add(s, r.name, r.shape, data))
		case []int64:
			errs = append(errs, checkpoint.Add(s, r.name, r.shape, data))
		case []int32:
			wide := make([]int64, len(data))
			for i, x := range data {
				wide[i] = int64(x)
			}
			errs = append(errs, checkpoint.Add(s, r.name, r.shape, wide))
		default:
			panic("module: BUG: a row of a type that no file holds")
		}
	}
	return errors.Join(errs...)
}

// read takes rows from a snapshot and returns a function that copies them to their memory. The
// first that is missing, or of another type or shape, is the error.
func read[F Float](s *checkpoint.Snapshot, rows []row) (put func(), err error) {
	var puts []func()
	for _, r := range rows {
		switch data := r.data.(type) {
		case []F:
			put, err = staged(s, r, data)
		case []int64:
			put, err = staged(s, r, data)
		case []int32:
			wide := make([]int64, len(data))
			if err = checkpoint.Take(s, r.name, r.shape, wide); err == nil {
				err = narrow(r.name, wide)
			}
			put = func() {
				for i, x := range wide {
					data[i] = int32(x)
				}
			}
		default:
			panic("module: BUG: a row of a type that no file holds")
		}
		if err != nil {
			return nil, err
		}
		puts = append(puts, put)
	}
	return func() {
		for _, f := range puts {
			f()
		}
	}, nil
}

// staged takes a row from a snapshot and returns a function that copies it to its memory.
func staged[E checkpoint.Element](s *checkpoint.Snapshot, r row, data []E) (put func(), err error) {
	taken := make([]E, len(data))
	err = checkpoint.Take(s, r.name, r.shape, taken)
	return func() { device.Copy(data, taken) }, err
}

// narrow refuses positions that a context cannot have.
func narrow(name string, wide []int64) error {
	for i, x := range wide {
		if x < 0 || x > math.MaxInt32 {
			return fmt.Errorf("%w: %s[%d] is %d, outside 0 … %d", ErrPosition, name, i, x, math.MaxInt32)
		}
	}
	return nil
}

// Digest is the SHA-256 of all parameters: names, shapes and every bit.
func (m *Module[F]) Digest() string {
	h := sha256.New()
	v := m.params.View()
	for i := range v.Len() {
		fmt.Fprintf(h, "%q %v %s\n", v.Name(i), v.Param(i).Shape, checkpoint.TypeOf[F]())
		var b [8]byte
		for _, x := range device.Host(v.Data(i)) {
			u := math.Float64bits(float64(x))
			for k := range b {
				b[k] = byte(u >> (8 * k))
			}
			h.Write(b[:])
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Layout is the SHA-256 of the structure of the module, without its numbers: every
// parameter with its shape, attributes, initialisation and update, and every tensor
// of a context. Two modules of one layout can have been built by the same
// steps; a page that was changed has another layout in most cases, and where it
// does not its own hash belongs in the Identity.
func (m *Module[F]) Layout() string {
	h := sha256.New()
	v := m.params.View()
	fmt.Fprintln(h, m.model.Name(), m.model.Vocabulary(), checkpoint.TypeOf[F]())
	for i := range v.Len() {
		p := v.Param(i)
		fmt.Fprintf(h, "%q %+v\n", p.Name, p)
	}
	for _, r := range append(m.moved(), divide(m.model.NewMemory(1), m.model.NewMemory(1)).rows()...) {
		fmt.Fprintf(h, "%q %v\n", r.name, r.shape)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// readParameters takes the parameters from a snapshot and returns a function that
// copies them, as one update of their writer.
func (m *Module[F]) readParameters(s *checkpoint.Snapshot) (put func(), err error) {
	v := m.params.View()
	staged := make([][]F, v.Len())
	for i := range staged {
		p := v.Param(i)
		staged[i] = make([]F, len(v.Data(i)))
		if err := checkpoint.Take(s, paramPrefix+p.Name, p.Shape, staged[i]); err != nil {
			return nil, err
		}
	}
	return func() {
		m.writer.Restore(func(i int, _ context.Param, data []F) { device.Copy(data, staged[i]) })
	}, nil
}
