package gen

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/tree"
)

// A memo is the last clean emission of a project, kept in the user's cache
// folder. It holds for the very bytes of the pages and the very executable of
// the compiler, so what it returns has been proved and compiled by this program
// from these pages. It is a shortcut and never an authority: whatever is wrong
// with it, the pages are compiled.
type memo struct {
	path string // "" keeps nothing
	key  string
}

// A kept memo, as gob writes it behind its own hash.
type kept struct {
	Key   string
	Files tree.Files
}

// MemoDir is the folder of memos in the user's cache folder, or "" without one.
func MemoDir() string {
	dir, err := prove.CacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(dir), "emitted")
}

// remember finds the memo of a project.
func remember(c Config) memo {
	version := prove.ExecutableVersion()
	names, err := pages(c.Specs)
	if c.Memo == "" || version == "" || err != nil {
		return memo{}
	}
	root, err := filepath.Abs(c.Root)
	if err != nil {
		return memo{}
	}
	h := sha256.New()
	fmt.Fprintln(h, version)
	for _, p := range names {
		text, err := os.ReadFile(p)
		if err != nil {
			return memo{}
		}
		fmt.Fprintf(h, "%q %d\n", underRoot(c.Root, p), len(text))
		h.Write(text)
	}
	of := sha256.Sum256([]byte(root))
	return memo{filepath.Join(c.Memo, hex.EncodeToString(of[:8])+".gob"), hex.EncodeToString(h.Sum(nil))}
}

// files returns what the pages made when they were last compiled as they are.
func (m memo) files() (tree.Files, bool) {
	if m.path == "" {
		return nil, false
	}
	text, err := os.ReadFile(m.path)
	if err != nil || len(text) < sha256.Size {
		return nil, false
	}
	var k kept
	sum := sha256.Sum256(text[sha256.Size:])
	if !bytes.Equal(sum[:], text[:sha256.Size]) || gob.NewDecoder(bytes.NewReader(text[sha256.Size:])).Decode(&k) != nil {
		return nil, false
	}
	return k.Files, k.Key == m.key
}

// keep stores an emission. That it cannot is no error: the next run compiles.
func (m memo) keep(files tree.Files) {
	var b bytes.Buffer
	if m.path == "" || gob.NewEncoder(&b).Encode(kept{m.key, files}) != nil || os.MkdirAll(filepath.Dir(m.path), 0o755) != nil {
		return
	}
	f, err := os.CreateTemp(filepath.Dir(m.path), "new-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // gone already when all went well
	sum := sha256.Sum256(b.Bytes())
	_, err = f.Write(append(sum[:], b.Bytes()...))
	if err == nil {
		err = f.Sync()
	}
	if f.Close() == nil && err == nil {
		_ = os.Rename(f.Name(), m.path)
	}
}
