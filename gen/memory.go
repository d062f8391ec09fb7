package gen

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nl-hecate/hecate/gen/prove"
)

// What was computed for a project is kept in the user's cache folder: a file for each
// stage of each unit, with a list of everything that the result was computed from
// and the digests of that. A file counts only for the very same list; whatever else is wrong with
// it, the result is computed. Results with a message, be it a warning, are not kept,
// so that it is said every time.

// A memory is the folder of one project; nil remembers nothing.
type memory struct{ dir string }

// A cause is one thing that a result was computed from.
type cause struct {
	Name   string // such as "unit NAME"
	Digest string
}

// because makes a cause of its content.
func because(name string, content ...any) cause {
	h := sha256.New()
	fmt.Fprintln(h, content...)
	return cause{name, hex.EncodeToString(h.Sum(nil))}
}

// A kept result, behind its own hash.
type kept struct {
	From  []cause
	Value []byte
}

// MemoryDir is the folder for results in the user's cache folder, or "" without one.
func MemoryDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hecate", "results")
}

// remember opens the memory of a project. Without a folder, or where the compiler
// cannot be told from another one, there is none.
func remember(c Config) *memory {
	root, err := filepath.Abs(c.Root)
	if c.Memory == "" || err != nil || compiler().Digest == "" {
		return nil
	}
	of := sha256.Sum256([]byte(root))
	return &memory{filepath.Join(c.Memory, hex.EncodeToString(of[:8]))}
}

// compiler is the running executable as a cause: two builds of it share nothing.
var compiler = sync.OnceValue(func() cause { return cause{"the compiler", prove.ExecutableVersion()} })

func (m *memory) path(unit, stage string) string { return filepath.Join(m.dir, unit+"."+stage) }

// get finds a result that was computed from just these causes. Where there is none
// it says why.
func (m *memory) get(unit, stage string, from []cause, into any) (why string, ok bool) {
	if m == nil {
		return "", false
	}
	text, err := os.ReadFile(m.path(unit, stage))
	if err != nil || len(text) < sha256.Size {
		return "nothing is remembered", false
	}
	var k kept
	sum := sha256.Sum256(text[sha256.Size:])
	if !bytes.Equal(sum[:], text[:sha256.Size]) || gob.NewDecoder(bytes.NewReader(text[sha256.Size:])).Decode(&k) != nil {
		return "what was remembered is damaged", false
	}
	if why := differs(k.From, from); why != "" {
		return why, false
	}
	if gob.NewDecoder(bytes.NewReader(k.Value)).Decode(into) != nil {
		return "what was remembered is damaged", false
	}
	return "", true
}

// differs names the first cause that is not the same, or "".
func differs(old, now []cause) string {
	was := map[string]string{}
	for _, c := range old {
		was[c.Name] = c.Digest
	}
	for _, c := range now {
		switch d, known := was[c.Name]; {
		case !known:
			return c.Name + " is new"
		case d != c.Digest:
			return c.Name + " has changed"
		}
		delete(was, c.Name)
	}
	for _, c := range old {
		if _, left := was[c.Name]; left {
			return c.Name + " is gone"
		}
	}
	return ""
}

// prune removes what is remembered of units that are gone, and of projects in which
// nothing was compiled for a long time.
func (m *memory) prune(units map[string]bool) {
	if m == nil {
		return
	}
	files, _ := os.ReadDir(m.dir)
	for _, f := range files {
		if name := f.Name(); !units[strings.TrimSuffix(name, filepath.Ext(name))] {
			_ = os.Remove(filepath.Join(m.dir, name))
		}
	}
	projects, _ := os.ReadDir(filepath.Dir(m.dir))
	for _, p := range projects {
		if info, err := p.Info(); err == nil && time.Since(info.ModTime()) > forgetAfter {
			_ = os.RemoveAll(filepath.Join(filepath.Dir(m.dir), p.Name()))
		}
	}
}

// forgetAfter is how long a project is remembered in which nothing changes.
const forgetAfter = 60 * 24 * time.Hour

// put keeps a result. That it cannot is no error: the next run computes it.
func (m *memory) put(unit, stage string, from []cause, value any) {
	if m == nil {
		return
	}
	var inner, b bytes.Buffer
	if gob.NewEncoder(&inner).Encode(value) != nil || gob.NewEncoder(&b).Encode(kept{from, inner.Bytes()}) != nil || os.MkdirAll(m.dir, 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(m.dir, "new-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // gone already when all went well
	sum := sha256.Sum256(b.Bytes())
	_, err = f.Write(append(sum[:], b.Bytes()...)) // torn by a power failure, it has another hash
	if f.Close() == nil && err == nil {
		_ = os.Rename(f.Name(), m.path(unit, stage))
	}
}
