package context

import (
	"github.com/nl-hecate/hecate/runtime/device"
	"github.com/nl-hecate/hecate/runtime/tensor"
)

// How a set is written. An update is computed beside the set, parameter by
// parameter, into memory that the writer keeps from one update to the next. Only
// when all of it is there is it copied over, in one loop that cannot fail, and
// counted as one version. So an update that panics half way has changed
// nothing, and while it is computed everyone still reads the set as it was: no
// parameter's update can depend on another one's having gone before.

// write computes all new values beside the set, then copies them over.
func (w *Writer[F]) write(fixed bool, f func(i int, p Param, data []F)) {
	if w.set == nil {
		panic(writerClosed)
	}
	s := w.set
	if s.order != nil {
		w.writeDevice(fixed, f)
		return
	}
	for i := len(w.next); i < len(s.data); i++ {
		w.next = append(w.next, tensor.Make[F](len(s.data[i])))
	}
	for i, p := range s.params {
		if p.Fixed && !fixed {
			continue
		}
		copy(w.next[i], s.data[i])
		f(i, p, w.next[i])
	}
	for i, p := range s.params {
		if !p.Fixed || fixed {
			copy(s.data[i], w.next[i])
		}
	}
	s.version++
}

// writeDevice is write of parameters of a device, which are copied all at once.
func (w *Writer[F]) writeDevice(fixed bool, f func(i int, p Param, data []F)) {
	s := w.set
	if w.next == nil {
		w.next = s.vectors()
	}
	w.a, w.b = w.a[:0], w.b[:0]
	for _, i := range s.order {
		if !s.params[i].Fixed || fixed {
			w.a, w.b = append(w.a, s.data[i]), append(w.b, w.next[i])
		}
	}
	device.CopyAll(w.b, w.a)
	for i, p := range s.params {
		if !p.Fixed || fixed {
			f(i, p, w.next[i])
		}
	}
	device.CopyAll(w.a, w.b)
	s.version++
}
