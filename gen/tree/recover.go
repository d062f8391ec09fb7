package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
)

// errBlocked means that a change cannot be made as the journal has it; nothing
// was done.
var errBlocked = errors.New("changed by another hand")

// recover ends an interrupted run. If it abandons one, it returns its journal,
// which stays in place until drop.
func (s *session) recover() (Recovery, journal, error) {
	j, found, err := readJournal(s.root)
	if err != nil {
		return 0, journal{}, err
	}
	if !found {
		return Idle, journal{}, s.sweep()
	}
	out, cause, err := s.complete(j)
	switch {
	case errors.Is(err, errBlocked) && errors.Is(cause, errBlocked):
		j.blocked = errors.Join(cause, err)
		return Abandoned, j, nil
	case err != nil:
		return 0, journal{}, errors.Join(cause, err)
	}
	return out, journal{}, nil
}

// complete rolls the journal on disk forward or, if that fails, back; cause is the reason to
// roll back. It returns 0 and an error if neither worked.
func (s *session) complete(j journal) (out Recovery, cause, err error) {
	if cause = s.replay(j); cause == nil {
		return Finished, nil, s.removeJournal()
	}
	if err := s.replay(j.reversed()); err != nil {
		return 0, cause, err
	}
	return Undone, cause, s.removeJournal()
}

// replay makes the change of j, or the rest of it. It checks all steps before it takes the
// first.
func (s *session) replay(j journal) error {
	have, err := s.checkSteps(j)
	if err != nil {
		return err
	}
	for i, st := range j.Steps {
		if st.New == absent && have[i] != absent {
			if err := s.do(op{verb: remove, path: st.Path}); err != nil {
				return err
			}
		}
	}
	for _, d := range slices.Backward(j.Rmdir) {
		if isNoFolder(s.root, d) {
			continue // a file may have its name already
		}
		err := s.do(op{verb: remove, path: d})
		// A folder that is not empty is only an error if a file needs its name.
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	if err := s.makeFolders(j); err != nil {
		return err
	}
	for i, st := range j.Steps {
		if st.New != absent && have[i] != st.New {
			if err := s.do(op{verb: rename, path: item(j.fresh, i), to: st.Path}); err != nil {
				return err
			}
		}
	}
	return s.syncAround(j)
}

// makeFolders moves staged folders into place: on a full disk a rename works
// where mkdir does not, above all on the way back.
func (s *session) makeFolders(j journal) error {
	for i, d := range j.Mkdir {
		if !isNoFolder(s.root, d) {
			continue
		}
		err := s.do(op{verb: rename, path: folder(j.fresh, i), to: d})
		if errors.Is(err, fs.ErrNotExist) { // used up by an interrupted run, or no parent
			continue
		}
		if err != nil {
			return err
		}
	}
	// What is left was there when the journal was written, and a hand or an
	// interrupted recovery took it away.
	for _, d := range j.folders() {
		if isNoFolder(s.root, d) {
			if err := s.do(op{verb: mkdir, path: d}); err != nil {
				return err
			}
		}
	}
	return nil
}

// folders returns the folders that exist after the change, as far as the journal knows,
// parents first.
func (j journal) folders() []string {
	need := map[string]bool{}
	for _, d := range j.Mkdir {
		need[d] = true
	}
	for _, st := range j.Steps {
		for d := path.Dir(st.Path); st.New != absent && d != "."; d = path.Dir(d) {
			need[d] = true
		}
	}
	return slices.Sorted(maps.Keys(need))
}

// checkSteps returns the digest of every target. It fails if the change cannot be made or
// would destroy a file that neither run knew.
func (s *session) checkSteps(j journal) ([]string, error) {
	have := make([]string, len(j.Steps))
	for i, st := range j.Steps {
		now, err := j.digestOf(s.root, st.Path)
		if err != nil {
			return nil, err
		}
		have[i] = now
		if now == st.New {
			continue
		}
		if now != st.Old && now != absent {
			return nil, fmt.Errorf("%s: %w", st.Path, errBlocked)
		}
		if st.New == absent {
			continue
		}
		name := item(j.fresh, i)
		data, err := s.root.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || digest(data) != st.New {
			return nil, fmt.Errorf("%s: %s is missing or damaged: %w", st.Path, name, errBlocked)
		}
	}
	return have, nil
}

// syncAround flushes every folder that the change touches, also for steps that an
// interrupted run took.
func (s *session) syncAround(j journal) error {
	var dirs []string
	for _, st := range j.Steps {
		dirs = append(dirs, path.Dir(st.Path))
	}
	for _, d := range slices.Concat(j.Rmdir, j.Mkdir) {
		dirs = append(dirs, path.Dir(d))
	}
	slices.Sort(dirs)
	for _, d := range slices.Compact(dirs) {
		if d != "." && isNoFolder(s.root, d) {
			continue
		}
		if err := s.do(op{verb: syncDir, path: d}); err != nil {
			return err
		}
	}
	return nil
}

// isNoFolder reports whether a path does not exist or is not a folder.
func isNoFolder(root *os.Root, dir string) bool {
	info, err := root.Lstat(dir)
	return err != nil || !info.IsDir()
}

// item and folder name the staged contents of step i and the staged folder i.
func item(dir string, i int) string   { return path.Join(dir, strconv.Itoa(i)) }
func folder(dir string, i int) string { return path.Join(dir, "dir"+strconv.Itoa(i)) }
