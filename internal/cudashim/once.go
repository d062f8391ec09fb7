package cudashim

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// making has a lock for everything that this process makes.
var making sync.Map

// once makes a folder if it is not there. Within a process nobody makes it
// twice; two processes may, and the first wins.
func once(at string, make func() error) error {
	lock, _ := making.LoadOrStore(at, &sync.Mutex{})
	lock.(*sync.Mutex).Lock()
	defer lock.(*sync.Mutex).Unlock()
	if _, err := os.Stat(at); err == nil {
		return nil
	}
	return make()
}

// replace fills a folder next to its target and moves it there. The folder that
// fill gets does not exist yet, or is empty.
func replace(at string, fill func(dir string) error) error {
	scratch, err := os.MkdirTemp(filepath.Dir(at), "making-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	dir := filepath.Join(scratch, "it")
	if err := fill(dir); err != nil {
		return err
	}
	err = os.Rename(dir, at)
	if _, there := os.Stat(at); there == nil {
		return nil
	}
	return err
}

// atOnce is how many compilers run side by side.
var atOnce = make(chan struct{}, 2)

// together runs jobs side by side.
func together(jobs []func() error) error {
	errs := make([]error, len(jobs))
	var wg sync.WaitGroup
	for i, job := range jobs {
		wg.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			errs[i] = job()
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// keptFor is how long a program stays in the cache after its last use.
const keptFor = 30 * 24 * time.Hour

// prune removes from a folder what nobody has used for long. It is tidying:
// what cannot be removed stays.
func prune(cache string) {
	entries, err := os.ReadDir(cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > keptFor {
			os.RemoveAll(filepath.Join(cache, e.Name()))
		}
	}
}

// used notes that a folder of the cache is of use.
func used(at string) {
	now := time.Now()
	os.Chtimes(at, now, now)
}
