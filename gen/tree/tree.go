// Package tree writes the whole output of the compiler, or nothing of it: a transaction over
// files with a write-ahead log (redo and undo; Gray and Reuter, "Transaction processing", 10).
//
// The owned folders below a root hold exactly the wanted files when Apply
// returns. An interrupted Apply leaves a journal, and the next Apply or Recover
// finishes the change or undoes it. The protocol, all of it under a lock of the
// operating system and inside the folder .hecategen beside the owned ones:
//
//  1. compare, and stop if nothing differs or a stranger's file is in the way;
//  2. stage: write the new bytes to new/, link the present files into old/, and
//     put both on the medium; no owned folder has been touched so far;
//  3. write the journal by one rename: every path with its digest before and
//     after. From here the change will be finished, or undone;
//  4. replay the journal: remove, then remove and make folders, then rename new/i over each
//     target, then sync the folders. A rename replaces a file whole, so no
//     reader ever sees half of one. Undoing is the same walk with the two
//     columns of the journal, and new/ and old/, exchanged;
//  5. remove the journal, then the staging files, then the lock and the folder.
//
// Each step of 4 is idempotent: it checks first whether it is done already, so a kill during
// a recovery is the same case again.
//
// A file belongs to the compiler if its leading comment, or the first member of an
// object in JSON, is the standard line "Code generated … DO NOT EDIT." or if the
// folder's .manifest names it.
// The manifest is written with the tree, lists only files that have no such
// line, and does not exist if there are none. Files that systems and editors leave beside
// others belong to nobody: they stay, and so does their folder.
package tree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Files are the wanted files: contents by slash-separated path below the root,
// such as "generated/ops/matmul.go".
type Files map[string][]byte

// Recovery says what became of an earlier run that was interrupted.
type Recovery int

const (
	_         Recovery = iota
	Idle               // there was none, or it had changed nothing yet
	Finished           // its files are all in place
	Undone             // the files from before it are all in place again
	Abandoned          // neither was possible; this run replaced what it left
)

func (r Recovery) String() string {
	return [...]string{"invalid", "idle", "finished", "undone", "abandoned"}[r]
}

// A Report says what Apply did. Paths are sorted.
type Report struct {
	Written  []string
	Removed  []string
	Kept     int // files that were right already and were not touched
	Recovery Recovery
}

// A Stray is something inside an owned folder that the compiler did not write.
type Stray struct {
	Path string
	Why  string
}

// Drift is the difference between the owned folders and the wanted files. Paths
// are sorted; a folder ends in a slash.
type Drift struct {
	Missing []string // wanted, absent
	Changed []string // wanted, other bytes
	Stale   []string // the compiler's, no longer wanted
	Stray   []Stray
	Mixed   bool // a run is under way or was interrupted: old and new files may be mixed
}

// None reports whether the folders hold exactly the wanted files.
func (d Drift) None() bool {
	return len(d.Missing)+len(d.Changed)+len(d.Stale)+len(d.Stray) == 0 && !d.Mixed
}

// String returns one line per difference, and the empty string for none.
func (d Drift) String() string {
	var b strings.Builder
	if d.Mixed {
		fmt.Fprintf(&b, "mixed: a run was interrupted (%s/%s); generate finishes or undoes it\n", workDir, journalName)
	}
	list := func(word string, paths []string) {
		for _, p := range paths {
			fmt.Fprintf(&b, "%s: %s\n", word, p)
		}
	}
	list("missing", d.Missing)
	list("changed", d.Changed)
	list("stale", d.Stale)
	for _, s := range d.Stray {
		fmt.Fprintf(&b, "stray: %s: %s\n", s.Path, s.Why)
	}
	return b.String()
}

// A StrayError stops Apply before it writes anything.
type StrayError struct{ Files []Stray }

func (e *StrayError) Error() string {
	var b strings.Builder
	b.WriteString("not written by the compiler, move or delete first:")
	for _, s := range e.Files {
		fmt.Fprintf(&b, "\n\t%s: %s", s.Path, s.Why)
	}
	return b.String()
}

// Apply makes the owned folders under root hold exactly the wanted files.
//
// It completes an interrupted run first. It writes the files whose bytes differ
// and removes the compiler's files and empty folders that are not wanted. If it
// returns an error, the tree is as it was or, when the error says so, mixed
// until the next Apply or Recover.
func Apply(root string, owned []string, want Files) (Report, error) {
	rep, err := apply(root, owned, want, direct)
	if err != nil {
		return rep, fmt.Errorf("write output tree: %w", err)
	}
	return rep, nil
}

// Check compares the owned folders under root with the wanted files. It writes
// nothing and takes no lock.
func Check(root string, owned []string, want Files) (Drift, error) {
	d, err := check(root, owned, want)
	if err != nil {
		return Drift{}, fmt.Errorf("check output tree: %w", err)
	}
	return d, nil
}

// Recover finishes or undoes an interrupted Apply under root. It fails if files
// were changed since so that neither is possible; only Apply can then help.
func Recover(root string) (Recovery, error) {
	out, err := recoverTree(root, direct)
	if err != nil {
		return out, fmt.Errorf("recover output tree: %w", err)
	}
	return out, nil
}

// A wrapper turns the disk of one run into another one; tests break it.
type wrapper func(disk) disk

func direct(d disk) disk { return d }

func apply(root string, owned []string, want Files, wrap wrapper) (rep Report, err error) {
	g, err := newGoal(owned, want)
	if err != nil {
		return Report{}, err
	}
	r, err := open(root)
	if err != nil {
		return Report{}, err
	}
	defer r.Close()
	// Without a lock a difference may be another run's half; equality is equality.
	if idle(r) {
		if p, err := compare(r, g, journal{}); err == nil && p.none() {
			return p.report(Idle), nil
		}
	}
	s, err := begin(r, wrap)
	if err != nil {
		return Report{}, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	return s.apply(g)
}

// apply runs under the lock.
func (s *session) apply(g goal) (Report, error) {
	recovery, left, err := s.recover()
	if err != nil {
		return Report{}, err
	}
	p, err := compare(s.root, g, left)
	if err != nil {
		return Report{}, err
	}
	if len(p.stray) > 0 {
		return Report{}, &StrayError{p.stray}
	}
	if recovery == Abandoned {
		if err := s.removeJournal(); err != nil {
			return Report{}, err
		}
	}
	if p.none() {
		return p.report(recovery), nil
	}
	if err := s.stage(p, g); err != nil {
		return Report{}, fmt.Errorf("nothing changed: %w", err)
	}
	out, cause, err := s.complete(p.journal)
	switch {
	case out == 0 && errors.Is(cause, errBlocked): // seen before the first step
		return Report{}, errors.Join(fmt.Errorf("nothing changed: %w", cause), s.removeJournal())
	case out == 0:
		return Report{}, fmt.Errorf("tree is mixed until the next generate: %w", errors.Join(cause, err))
	case out == Undone:
		return Report{}, errors.Join(fmt.Errorf("nothing changed: %w", cause), err)
	}
	return p.report(recovery), err
}

func check(root string, owned []string, want Files) (Drift, error) {
	g, err := newGoal(owned, want)
	if err != nil {
		return Drift{}, err
	}
	r, err := open(root)
	if err != nil {
		return Drift{}, err
	}
	defer r.Close()
	j, mixed, err := readJournal(r)
	if err != nil {
		return Drift{}, err
	}
	p, err := compare(r, g, j)
	if err != nil {
		return Drift{}, err
	}
	for _, s := range p.stray {
		if slices.Contains(g.owned, s.Path) || slices.ContainsFunc(g.owned, func(o string) bool { return within(o, s.Path) }) {
			return Drift{}, &StrayError{[]Stray{s}} // nothing of the folder was seen
		}
	}
	d := p.drift()
	d.Mixed = mixed
	return d, nil
}

func recoverTree(root string, wrap wrapper) (out Recovery, err error) {
	r, err := open(root)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if idle(r) {
		return Idle, nil
	}
	s, err := begin(r, wrap)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.end()) }()
	out, left, err := s.recover()
	if out == Abandoned {
		return 0, left.blocked
	}
	return out, err
}

// open returns the root as a handle, so that neither the working directory nor
// a symbolic link can lead a later step elsewhere.
func open(root string) (*os.Root, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	return os.OpenRoot(abs)
}
