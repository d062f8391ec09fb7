package context

import "github.com/nl-hecate/hecate/runtime/device"

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
	for i := len(w.next); i < len(w.set.data); i++ {
		w.next = append(w.next, device.Like(w.set.data[i], len(w.set.data[i])))
	}
	for i, p := range w.set.params {
		if p.Fixed && !fixed {
			continue
		}
		device.Copy(w.next[i], w.set.data[i])
		f(i, p, w.next[i])
	}
	for i, p := range w.set.params {
		if !p.Fixed || fixed {
			device.Copy(w.set.data[i], w.next[i])
		}
	}
	w.set.version++
}
