// Package parallel runs independent work on several cores.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls f for 0 … n−1 on at most the given number of goroutines, each of which takes the
// next index until none is left. It returns when all calls have.
func Each(n, workers int, f func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(n, workers) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	wg.Wait()
}
