package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A goal is the wanted content of the owned folders: checked names, manifests added.
type goal struct {
	owned []string // sorted
	files Files
	paths []string        // of files, sorted
	dirs  map[string]bool // every folder that a file needs, up to the root
}

// newGoal checks every name before anything is read or written.
func newGoal(owned []string, want Files) (goal, error) {
	g := goal{owned: slices.Sorted(slices.Values(owned)), dirs: map[string]bool{}}
	if len(owned) == 0 {
		return g, errors.New("no owned folder")
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	names := spelling{}
	for i, o := range g.owned {
		if err := checkName(o); err != nil {
			fail("owned folder %w", err)
			continue
		}
		for _, p := range g.owned[:i] {
			if o == p || within(o, p) {
				fail("owned folder %q is in %q", o, p)
			}
		}
		if err := names.add(o, true); err != nil {
			errs = append(errs, err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(want)) {
		switch err := checkName(p); {
		case err != nil:
			fail("file %w", err)
		case path.Base(p) == manifestName:
			fail("file %q: the name is reserved", p)
		case ownerOf(g.owned, p) == "":
			fail("file %q: outside the owned folders %q", p, g.owned)
		default:
			if err := names.add(p, false); err != nil {
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 {
		return g, errors.Join(errs...)
	}
	g.files = withManifests(g.owned, want)
	g.paths = slices.Sorted(maps.Keys(g.files))
	for _, p := range g.paths {
		for d := path.Dir(p); d != "." && !g.dirs[d]; d = path.Dir(d) {
			g.dirs[d] = true
		}
	}
	return g, nil
}

// within reports whether p is below the folder dir.
func within(p, dir string) bool { return strings.HasPrefix(p, dir+"/") }

// ownerOf returns the owned folder above p, or "".
func ownerOf(owned []string, p string) string {
	for _, o := range owned {
		if within(p, o) {
			return o
		}
	}
	return ""
}

// checkName accepts slash-separated relative paths that mean one file on every
// operating system, so that a page cannot name a device or leave the tree.
func checkName(p string) error {
	if !fs.ValidPath(p) || p == "." {
		return fmt.Errorf("%q: not a plain relative path", p)
	}
	for elem := range strings.SplitSeq(p, "/") {
		base, _, _ := strings.Cut(elem, ".")
		switch {
		case strings.ContainsFunc(elem, func(r rune) bool { return r < ' ' || r == 0x7f || strings.ContainsRune(`<>:"|?*\`, r) }):
			return fmt.Errorf("%q: a character that some file systems lack", p)
		case strings.HasSuffix(elem, ".") || strings.HasSuffix(elem, " "):
			return fmt.Errorf("%q: ends in a dot or a space", p)
		case device.MatchString(strings.ToUpper(strings.TrimRight(base, " "))):
			return fmt.Errorf("%q: %s is a device on Windows", p, base)
		case strings.EqualFold(elem, ".git") || strings.EqualFold(elem, workDir):
			return fmt.Errorf("%q: the name is reserved", p)
		case len(elem) > 255:
			return fmt.Errorf("%q: longer than 255 bytes", p)
		}
	}
	return nil
}

// device matches the names of devices on Windows; ¹²³ count as digits there.
var device = regexp.MustCompile(`^(?:CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(?:COM|LPT)[0-9¹²³])$`)

// spelling finds names that a case-insensitive file system cannot tell apart,
// and a name that is wanted as a file and as a folder.
type spelling map[string]spelled

type spelled struct {
	name string
	dir  bool
}

func (s spelling) add(p string, dir bool) error {
	for ; p != "."; p, dir = path.Dir(p), true {
		key := strings.ToLower(p)
		switch old, ok := s[key]; {
		case !ok:
			s[key] = spelled{p, dir}
		case old.name != p:
			return fmt.Errorf("%q and %q differ only in case", old.name, p)
		case old.dir != dir:
			return fmt.Errorf("%q is both a file and a folder", p)
		default:
			return nil // and so are its parents
		}
	}
	return nil
}
