//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"errors"
	"unsafe"
)

// A Graph is a sequence of launches and copies that was recorded, and is enqueued as one.
type Graph struct {
	Nodes  int
	device *Device
	exec   uintptr
}

// Capture records what f enqueues instead of running it. What f enqueues must not wait, nor
// allocate.
func (v *Device) Capture(f func() error) (*Graph, error) {
	g := &Graph{device: v}
	if err := v.do("", func() error { return v.driver.call(&v.driver.beginCapture, v.stream, captureRelaxed) }); err != nil {
		return nil, err
	}
	failed := f()
	var graph uintptr
	err := v.do("", func() error {
		err := v.driver.call(&v.driver.endCapture, v.stream, uintptr(unsafe.Pointer(&graph)))
		if err != nil || failed != nil {
			return err
		}
		var n uint64
		if v.driver.graphNodes.at != 0 {
			err = v.driver.call(&v.driver.graphNodes, graph, 0, uintptr(unsafe.Pointer(&n)))
		}
		g.Nodes = int(n)
		return errors.Join(err, v.driver.call(&v.driver.instantiate, uintptr(unsafe.Pointer(&g.exec)), graph, 0))
	})
	if graph != 0 {
		err = errors.Join(err, v.do("", func() error { return v.driver.call(&v.driver.graphDestroy, graph) }))
	}
	if failed != nil {
		return nil, failed
	}
	if err != nil {
		return nil, err
	}
	return g, nil
}

// captureRelaxed is the mode of a capture that calls of any thread may go on beside: a
// goroutine moves from thread to thread.
const captureRelaxed = 2

// Replay enqueues the graph.
func (g *Graph) Replay() error {
	v := g.device
	return v.do("", func() error { return v.driver.call(&v.driver.graphLaunch, g.exec, v.stream) })
}

// Release frees the graph.
func (g *Graph) Release() error {
	v := g.device
	return v.do("", func() error { return v.driver.call(&v.driver.execDestroy, g.exec) })
}
