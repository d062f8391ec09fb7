package module

import (
	"sync"
	"sync/atomic"
)

// A workerPool runs a job on several goroutines, of which the caller's is one. Each
// takes the next index until none is left; the pool's memory is reused, so that a job
// of a size that has been seen allocates nothing. It serves one goroutine.
type workerPool struct {
	n    int64
	f    func(worker, i int) error
	next atomic.Int64 // the last index taken
	wg   sync.WaitGroup
	errs []error
	work []func() // by worker
}

// each calls f for every i below n on the given number of goroutines and
// returns the error of the lowest i.
func (c *workerPool) each(n, workers int, f func(worker, i int) error) error {
	workers = max(workers, 1)
	for len(c.work) < workers {
		worker := len(c.work)
		c.work = append(c.work, func() { c.take(worker) })
	}
	if len(c.errs) < n {
		c.errs = make([]error, n)
	}
	clear(c.errs)
	c.n, c.f = int64(n), f
	c.next.Store(-1)
	c.wg.Add(workers)
	for _, w := range c.work[1:workers] {
		go w()
	}
	c.take(0)
	c.wg.Wait()
	for _, err := range c.errs[:n] {
		if err != nil {
			return err
		}
	}
	return nil
}

// take runs the remaining indices.
func (c *workerPool) take(worker int) {
	defer c.wg.Done()
	for i := c.next.Add(1); i < c.n; i = c.next.Add(1) {
		c.errs[i] = c.f(worker, int(i))
	}
}
