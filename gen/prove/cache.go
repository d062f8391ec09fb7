package prove

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/nl-hecate/hecate/gen/autodiff"
	"github.com/nl-hecate/hecate/gen/ir"
	"github.com/nl-hecate/hecate/gen/notation"
)

// Evidence is kept in one file per unit and depth, under keys that name what
// was looked at: the kind of the item, the hash of each program, the words of
// the claim, and the compiler itself. So a change of prose, of a span or of
// another unit leaves it valid, and a change of the compiler leaves none. A
// file that cannot be read or written costs time and nothing else.

// CacheDir is the folder for evidence of the user who runs the compiler.
func CacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(dir, "hecate", "prove"), nil
}

// ExecutableVersion is a hash of the running executable, for Options.Version:
// two builds of the compiler never share evidence.
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

// A cache is the evidence about one unit.
type cache struct {
	path    string
	version string
	deep    bool
	old     map[string]Evidence
	now     map[string]Evidence
	changed bool
}

// openCache reads what is known; without a folder or a version nothing is
// looked up and nothing kept.
func openCache(opt Options, id string) *cache {
	c := &cache{version: opt.Version, deep: opt.Deep, now: map[string]Evidence{}}
	if opt.Cache == "" || opt.Version == "" {
		return c
	}
	depth := "quick"
	if opt.Deep {
		depth = "deep"
	}
	c.path = filepath.Join(opt.Cache, id+"."+depth+".json")
	text, err := os.ReadFile(c.path)
	if err == nil && json.Unmarshal(text, &c.old) != nil {
		c.old = nil
	}
	return c
}

// key is the hash of what an item is about.
func (c *cache) key(it Item, about ...any) string {
	if c.path == "" {
		return ""
	}
	h := sha256.New()
	fmt.Fprintln(h, c.version, c.deep, it.Kind, it.Name, it.Text)
	for _, a := range about {
		switch a := a.(type) {
		case *ir.Func:
			if a != nil {
				fmt.Fprintln(h, autodiff.Hash(a))
			}
		case notation.Expr:
			fmt.Fprintln(h, notation.Print(a, notation.Unicode))
		default:
			fmt.Fprintln(h, a)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c *cache) get(key string) (Evidence, bool) {
	ev, ok := c.old[key]
	if ok {
		c.now[key] = ev
	}
	return ev, ok && ev.Verdict != Failed
}

func (c *cache) put(key string, ev Evidence) {
	if key != "" {
		c.now[key], c.changed = ev, true
	}
}

// close writes what is known now; evidence that nothing asked for is dropped.
func (c *cache) close() {
	if c.path == "" || !c.changed && len(c.now) == len(c.old) {
		return
	}
	text, err := json.MarshalIndent(c.now, "", " ")
	if err != nil || os.MkdirAll(filepath.Dir(c.path), 0o755) != nil {
		return
	}
	tmp, err := os.CreateTemp(filepath.Dir(c.path), ".prove-*")
	if err != nil {
		return
	}
	_, err = tmp.Write(text)
	if err2 := tmp.Close(); err != nil || err2 != nil || os.Rename(tmp.Name(), c.path) != nil {
		os.Remove(tmp.Name())
	}
}
