package drive

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxStem leaves room for endings in a name of 255 bytes.
const maxStem = 100

// ext is the extension of a checkpoint.
const ext = ".safetensors"

// Files are the names of the files of a build:
//
//	STEM.safetensors            the state when the build ended
//	STEM-000000500.safetensors  the state after 500 steps
//	STEM-best.safetensors       the state with the best held-out loss
//	STEM-tokenizer.json         the tokenizer, if text was read through one
//	STEM.jsonl, .svg, .png, …   reports
type Files struct{ Dir, Stem string }

// StemOf is a name of files for a model: its letters and digits, in lower case.
func StemOf(model string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(model) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	s := strings.TrimSuffix(b.String(), "-")
	if len(s) > maxStem { // a long formula: its beginning and a hash
		h := fnv.New32a()
		_, _ = h.Write([]byte(s)) // never fails
		s = fmt.Sprintf("%s-%08x", strings.TrimSuffix(s[:maxStem-9], "-"), h.Sum32())
	}
	if s != "" {
		return s
	}
	return "model"
}

// Path is the file with a suffix.
func (f Files) Path(end string) string { return filepath.Join(f.Dir, f.Stem+end) }

// Last is the final checkpoint.
func (f Files) Last() string { return f.Path(ext) }

// At is the checkpoint after a number of steps.
func (f Files) At(step int) string { return f.Path(fmt.Sprintf("-%09d%s", step, ext)) }

// Best is the checkpoint with the best held-out loss.
func (f Files) Best() string { return f.Path("-best" + ext) }

// step reads the number of a name that At made.
func (f Files) step(name string) (int, bool) {
	s, a := strings.CutPrefix(name, f.Stem+"-")
	s, b := strings.CutSuffix(s, ext)
	n, err := strconv.Atoi(s)
	return n, a && b && err == nil && n >= 0
}

// prune removes numbered checkpoints up to a step, except the newest few. Checkpoints
// of later steps belong to another run.
func (f Files) prune(step, keep int) error {
	entries, err := os.ReadDir(f.Dir)
	if err != nil {
		return err
	}
	var at []int
	for _, e := range entries {
		if n, ok := f.step(e.Name()); ok && n <= step {
			at = append(at, n)
		}
	}
	slices.Sort(at)
	for _, n := range at[:max(len(at)-keep, 0)] {
		err = errors.Join(err, os.Remove(f.At(n)))
	}
	return err
}

// Newest finds the checkpoint to resume from: of those in the folder, except the best
// one, the valid one with the most steps. steps returns the steps of a file; note is
// called for each file that it refuses. Newest returns "" if there is none.
func (f Files) Newest(steps func(path string) (int, error), note func(path string, err error)) (string, error) {
	entries, err := os.ReadDir(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	type file struct {
		path string
		step int
	}
	var all []file
	for _, e := range entries {
		n, numbered := f.step(e.Name())
		if !numbered && e.Name() != f.Stem+ext {
			continue
		}
		path := filepath.Join(f.Dir, e.Name())
		if !numbered {
			if n, err = steps(path); err != nil {
				note(path, err)
				continue
			}
		}
		all = append(all, file{path, n})
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Or(cmp.Compare(b.step, a.step), strings.Compare(a.path, b.path)) })
	for _, x := range all {
		if n, err := steps(x.path); err != nil || n != x.step {
			note(x.path, cmp.Or(err, fmt.Errorf("it has %d steps", n)))
			continue
		}
		return x.path, nil
	}
	return "", nil
}
