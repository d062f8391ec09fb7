package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

// A plan is the way from the present tree to the goal.
type plan struct {
	journal
	kept  int
	stray []Stray
}

func (p plan) none() bool { return len(p.Steps)+len(p.Rmdir)+len(p.stray) == 0 }

// compare reads the owned folders. Files that the journal of an interrupted run
// put there, or found there, are the compiler's too.
func compare(root *os.Root, g goal, interrupted journal) (plan, error) {
	c := comparison{root: root, goal: g, dirs: map[string]bool{}, held: map[string]bool{}, seen: map[string]bool{}, left: map[string]step{}}
	c.Owned, c.fresh, c.saved = g.owned, newDir, oldDir
	for _, st := range interrupted.Steps {
		c.left[st.Path] = st
	}
	for _, o := range g.owned {
		if ok, err := c.reach(o); err != nil {
			return c.plan, err
		} else if ok {
			c.listed = readManifest(root, o)
			if err := c.folder(o); err != nil {
				return c.plan, err
			}
		}
	}
	for _, p := range g.paths {
		if !c.seen[p] {
			c.Steps = append(c.Steps, step{Path: p, New: digest(g.files[p])})
		}
	}
	slices.SortFunc(c.Steps, func(a, b step) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(c.stray, func(a, b Stray) int { return strings.Compare(a.Path, b.Path) })
	for _, d := range slices.Sorted(maps.Keys(g.dirs)) {
		if !c.dirs[d] {
			c.Mkdir = append(c.Mkdir, d)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(c.dirs)) {
		if !g.dirs[d] && !c.held[d] && (slices.Contains(g.owned, d) || ownerOf(g.owned, d) != "") {
			c.Rmdir = append(c.Rmdir, d)
		}
	}
	return c.plan, nil
}

type comparison struct {
	plan
	root   *os.Root
	goal   goal
	dirs   map[string]bool // folders that exist
	held   map[string]bool // folders with something in them that is left alone
	seen   map[string]bool // wanted files that exist, whatever their bytes
	listed map[string]bool // the manifest of the owned folder being read
	left   map[string]step // the journal of an interrupted run
}

func (c *comparison) foreign(p, why string) { c.stray = append(c.stray, Stray{p, why}) }

// reach reports whether an owned folder exists, each step to it a real folder.
func (c *comparison) reach(owned string) (bool, error) {
	for i := range len(owned) + 1 {
		if i < len(owned) && owned[i] != '/' {
			continue
		}
		dir := owned[:i]
		switch info, err := c.root.Lstat(dir); {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case !info.IsDir():
			c.foreign(dir, kind(info.Mode()))
			return false, nil
		}
		c.dirs[dir] = true
	}
	return true, nil
}

func (c *comparison) folder(dir string) error {
	at, err := c.root.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another run took it away just now
	}
	if err != nil {
		return err
	}
	defer at.Close()
	entries, err := fs.ReadDir(at.FS(), ".")
	if err != nil {
		return located(dir, err)
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case e.Type().IsRegular() && Litter(e.Name()):
			for d := dir; d != "."; d = path.Dir(d) {
				c.held[d] = true
			}
		case checkName(p) != nil:
			c.foreign(p, "not a name that the compiler writes") // nor one for a journal
		case e.IsDir():
			c.dirs[p] = true
			err = c.folder(p)
		case !e.Type().IsRegular():
			c.foreign(p, kind(e.Type()))
			c.seen[p] = true
		default:
			err = c.file(at, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file reads p from its open folder, which spares the way from the root.
func (c *comparison) file(at *os.Root, p string) error {
	have, err := at.ReadFile(path.Base(p))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another run took it away just now
	}
	if err != nil {
		return located(p, err)
	}
	want, wanted := c.goal.files[p]
	c.seen[p] = wanted
	if wanted && bytes.Equal(have, want) {
		c.kept++
		return nil
	}
	st := step{Path: p, Old: digest(have)}
	if wanted {
		st.New = digest(want)
	}
	left := c.left[p]
	if !marked(have) && !c.listed[p] && st.Old != left.Old && st.Old != left.New {
		c.foreign(p, "neither marked as generated nor in the manifest")
		return nil
	}
	c.Steps = append(c.Steps, st)
	return nil
}

// located gives an error the path from the root; it has the one from an open folder.
func located(p string, err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("read %s: %w", p, err)
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m.IsRegular():
		return "a file where a folder is wanted"
	case m.IsDir():
		return "a folder"
	}
	return "not a regular file"
}

func (p plan) report(r Recovery) Report {
	rep := Report{Kept: p.kept, Recovery: r}
	for _, st := range p.Steps {
		if st.New == "" {
			rep.Removed = append(rep.Removed, st.Path)
		} else {
			rep.Written = append(rep.Written, st.Path)
		}
	}
	return rep
}

func (p plan) drift() Drift {
	d := Drift{Stray: p.stray}
	for _, st := range p.Steps {
		switch {
		case st.New == "":
			d.Stale = append(d.Stale, st.Path)
		case st.Old == "":
			d.Missing = append(d.Missing, st.Path)
		default:
			d.Changed = append(d.Changed, st.Path)
		}
	}
	for _, dir := range p.Rmdir {
		d.Stale = append(d.Stale, dir+"/")
	}
	slices.Sort(d.Stale)
	return d
}
