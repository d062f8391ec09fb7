// Package cache keeps results of earlier runs of the compiler in the user's cache folder:
// a file for each result of each unit. It has a hash of what follows, a list of everything
// that the result was computed from with the digests of that, and the result. A file counts
// only for the very same list; where anything else is wrong with it, the result is computed.
// Results with a message, even a warning, are not for the cache, so that the message is
// printed every time.
package cache

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A Cache is the folder of one project; a nil Cache keeps nothing.
type Cache struct{ dir string }

// An Input is one thing that a result was computed from.
type Input struct {
	Name   string // such as "unit NAME"
	Digest string
}

// NewInput makes an input of its content.
func NewInput(name string, content ...any) Input {
	h := sha256.New()
	fmt.Fprintln(h, content...)
	return Input{name, hex.EncodeToString(h.Sum(nil))}
}

// Compiler is the running executable as an input: two builds of it share nothing.
var Compiler = sync.OnceValue(func() Input { return Input{"the compiler", ExecutableVersion()} })

// Folder is the folder for all projects in the user's cache folder, or "" without one.
func Folder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hecate", "results")
}

// Open opens the cache of a project. There is none without a folder, or where one build
// of the compiler cannot be told from another.
func Open(folder, root string) *Cache {
	abs, err := filepath.Abs(root)
	if folder == "" || err != nil || Compiler().Digest == "" {
		return nil
	}
	of := sha256.Sum256([]byte(abs))
	return &Cache{filepath.Join(folder, hex.EncodeToString(of[:8]))}
}

func (c *Cache) path(unit, result string) string { return filepath.Join(c.dir, unit+"."+result) }

// Get finds a result that was computed from just these inputs. Where there is none it
// says why.
func (c *Cache) Get(unit, result string, from []Input, into any) (why string, ok bool) {
	if c == nil {
		return "", false
	}
	text, err := os.ReadFile(c.path(unit, result))
	if err != nil || len(text) < sha256.Size {
		return "not in the cache", false
	}
	var old []Input
	sum := sha256.Sum256(text[sha256.Size:])
	d := gob.NewDecoder(bytes.NewReader(text[sha256.Size:]))
	if !bytes.Equal(sum[:], text[:sha256.Size]) || d.Decode(&old) != nil {
		return "the entry of the cache is damaged", false
	}
	if why := Changed(old, from); why != "" {
		return why, false
	}
	if d.Decode(into) != nil {
		return "the entry of the cache is damaged", false
	}
	return "", true
}

// Changed names the first input that is not the same, or "".
func Changed(old, now []Input) string {
	was := map[string]string{}
	for _, in := range old {
		was[in.Name] = in.Digest
	}
	for _, in := range now {
		switch d, known := was[in.Name]; {
		case !known:
			return in.Name + " is new"
		case d != in.Digest:
			return in.Name + " has changed"
		}
		delete(was, in.Name)
	}
	for _, in := range old {
		if _, left := was[in.Name]; left {
			return in.Name + " is gone"
		}
	}
	return ""
}

// Prune removes the results of units that are gone, and the caches of projects in which
// nothing was compiled for a long time.
func (c *Cache) Prune(units map[string]bool) {
	if c == nil {
		return
	}
	files, _ := os.ReadDir(c.dir)
	for _, f := range files {
		if name := f.Name(); !units[strings.TrimSuffix(name, filepath.Ext(name))] {
			_ = os.Remove(filepath.Join(c.dir, name))
		}
	}
	projects, _ := os.ReadDir(filepath.Dir(c.dir))
	for _, p := range projects {
		if info, err := p.Info(); err == nil && time.Since(info.ModTime()) > maxAge {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(c.dir), p.Name()))
		}
	}
}

// maxAge is how long the cache of a project is kept in which nothing changes.
const maxAge = 60 * 24 * time.Hour

// Put keeps a result. It is no error where it cannot: the next run computes the result.
func (c *Cache) Put(unit, result string, from []Input, value any) {
	if c == nil {
		return
	}
	var b bytes.Buffer
	e := gob.NewEncoder(&b)
	if e.Encode(from) != nil || e.Encode(value) != nil || os.MkdirAll(c.dir, 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(c.dir, "new-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // gone already when all went well
	sum := sha256.Sum256(b.Bytes())
	_, err = f.Write(append(sum[:], b.Bytes()...)) // torn by a power failure, it has another hash
	if f.Close() == nil && err == nil {
		_ = os.Rename(f.Name(), c.path(unit, result))
	}
}

// ExecutableVersion is a hash of the running executable: what one build of the
// compiler found, another finds again. It is "" where the executable cannot be read.
var ExecutableVersion = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return hex.EncodeToString(h.Sum(nil))
})
