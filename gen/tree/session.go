package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// The working folder exists only while a run lasts or after one was interrupted.
const (
	workDir     = ".hecategen"
	lockName    = "lock"
	journalName = "journal.json"
	ignoreName  = ".gitignore"
	newDir      = workDir + "/new" // contents after the change
	oldDir      = workDir + "/old" // and before it
)

// lockWait is how long a run waits for another one; writing takes about a second.
var lockWait = 5 * time.Second

// errHeld means that another process holds the lock.
var errHeld = errors.New("lock is held")

// A session is one run under the lock.
type session struct {
	root *os.Root
	do   disk
	lock *os.File
}

// idle reports whether no run is under way and none was interrupted.
func idle(root *os.Root) bool {
	_, err := root.Lstat(workDir)
	return errors.Is(err, fs.ErrNotExist)
}

// begin takes the lock, which the operating system drops when the process ends,
// however it ends.
func begin(root *os.Root, wrap wrapper) (*session, error) {
	s := &session{root: root, do: wrap(plainDisk(root))}
	for deadline := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		err := s.tryLock()
		if err == nil {
			return s, nil
		}
		// Gone: the holder has just taken the folder away.
		if !errors.Is(err, errHeld) && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s is in use by %s (waited %v)", workDir, holder(root), lockWait)
		}
	}
}

func (s *session) tryLock() error {
	if err := s.do(op{verb: mkdir, path: workDir}); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := s.root.Lstat(workDir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is %s", workDir, kind(info.Mode()))
	}
	name := path.Join(workDir, lockName)
	f, err := lockFile(s.root, name)
	if err != nil {
		if !errors.Is(err, errHeld) {
			s.do(op{verb: remove, path: workDir}) // fails unless it is empty
		}
		return err
	}
	// The file may have been removed while this process waited for it.
	mine, err := f.Stat()
	if err == nil {
		info, err = s.root.Lstat(name)
	}
	if err == nil && !os.SameFile(mine, info) {
		err = errHeld
	}
	if err == nil {
		host, _ := os.Hostname() // the name is a courtesy
		err = f.Truncate(0)
		fmt.Fprintf(f, "process %d on %s\n", os.Getpid(), host)
	}
	if err != nil {
		f.Close()
		return err
	}
	s.lock = f
	return nil
}

// holder returns what the lock file says about its process.
func holder(root *os.Root) string {
	data, _ := root.ReadFile(path.Join(workDir, lockName))
	if who := strings.TrimSpace(string(data)); who != "" {
		return who
	}
	return "another process"
}

// stage brings the change onto the medium beside the tree, the journal last. If
// it fails there is no journal.
func (s *session) stage(p plan, g goal) (err error) {
	ops := []op{
		{verb: mkdir, path: newDir},
		{verb: mkdir, path: oldDir},
		{verb: write, path: path.Join(workDir, ignoreName), data: []byte("*\n")},
	}
	for i := range p.Mkdir {
		ops = append(ops, op{verb: mkdir, path: folder(newDir, i)})
	}
	for i := range p.Rmdir {
		ops = append(ops, op{verb: mkdir, path: folder(oldDir, i)})
	}
	for i, st := range p.Steps {
		if st.Old != absent {
			ops = append(ops, op{verb: link, path: st.Path, to: item(oldDir, i)})
		}
		if st.New != absent {
			ops = append(ops, op{verb: write, path: item(newDir, i), data: g.files[st.Path]})
		}
	}
	draft, name := path.Join(workDir, journalName+".new"), path.Join(workDir, journalName)
	ops = append(ops,
		op{verb: syncDir, path: newDir},
		op{verb: syncDir, path: oldDir},
		op{verb: syncDir, path: "."}, // the journal must be found
		op{verb: write, path: draft, data: p.encode()},
		op{verb: rename, path: draft, to: name},
		op{verb: syncDir, path: workDir},
	)
	for _, o := range ops {
		err := s.do(o)
		if err != nil && o.verb == link { // this file system may have no second names
			err = s.copyFile(o.path, o.to, err)
		}
		if err != nil {
			if _, found, _ := readJournal(s.root); found {
				err = errors.Join(err, s.removeJournal())
			}
			return err
		}
	}
	return nil
}

func (s *session) copyFile(from, to string, cause error) error {
	data, err := s.root.ReadFile(from)
	if err == nil {
		err = s.do(op{verb: write, path: to, data: data})
	}
	if err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// removeJournal ends a change: from here there is nothing to recover.
func (s *session) removeJournal() error {
	if err := s.do(op{verb: remove, path: path.Join(workDir, journalName)}); err != nil {
		return err
	}
	if err := s.do(op{verb: syncDir, path: workDir}); err != nil {
		return err
	}
	return s.sweep()
}

// sweep removes staged contents that no journal speaks of.
func (s *session) sweep() error {
	for _, dir := range []string{newDir, oldDir} {
		entries, err := fs.ReadDir(s.root.FS(), dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := s.do(op{verb: remove, path: path.Join(dir, e.Name())}); err != nil {
				return err
			}
		}
		if err := s.do(op{verb: remove, path: dir}); err != nil {
			return err
		}
	}
	for _, name := range []string{journalName + ".new", ignoreName} {
		err := s.do(op{verb: remove, path: path.Join(workDir, name)})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// end gives the lock back and takes the working folder away unless a journal is
// left in it.
func (s *session) end() error {
	var err error
	if _, found, _ := readJournal(s.root); !found {
		err = s.sweep()
	}
	name := op{verb: remove, path: path.Join(workDir, lockName)}
	if unlinkFirst {
		err = errors.Join(err, s.do(name), s.lock.Close())
	} else {
		err = errors.Join(err, s.lock.Close())
		s.do(name) // fails if the next run was quicker
	}
	rest := s.do(op{verb: remove, path: workDir})
	if errors.Is(rest, fs.ErrExist) || errors.Is(rest, fs.ErrNotExist) {
		return err // the next run is in there, or has been
	}
	return errors.Join(err, rest)
}
