package tree

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// A journal is one change of the tree, there and back. Its presence on disk
// means that the change was begun and not ended.
type journal struct {
	Format int      `json:"format"`
	Owned  []string `json:"owned"`
	Rmdir  []string `json:"rmdir,omitempty"` // parents first
	Mkdir  []string `json:"mkdir,omitempty"` // parents first
	Steps  []step   `json:"steps"`           // step i has its bytes in new/i and old/i

	fresh, saved string // folders with the contents after and before
	blocked      error  // why an abandoned journal could not be replayed
}

// A step is one file: SHA-256 before and after, empty where it does not exist.
type step struct {
	Path string `json:"path"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

const journalFormat = 1

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// reversed returns the change that undoes j.
func (j journal) reversed() journal {
	back := j
	back.Rmdir, back.Mkdir = j.Mkdir, j.Rmdir
	back.fresh, back.saved = j.saved, j.fresh
	back.Steps = slices.Clone(j.Steps)
	for i, st := range back.Steps {
		back.Steps[i] = step{st.Path, st.New, st.Old}
	}
	return back
}

func (j journal) encode() []byte {
	j.Format = journalFormat
	data, err := json.MarshalIndent(j, "", "\t")
	if err != nil {
		panic(fmt.Sprintf("tree: BUG: journal: %v", err))
	}
	return append(data, '\n')
}

func decodeJournal(data []byte) (journal, error) {
	var j journal
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&j); err != nil {
		return journal{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return journal{}, errors.New("text after the end")
	}
	if j.Format != journalFormat {
		return journal{}, fmt.Errorf("format %d, this is for %d", j.Format, journalFormat)
	}
	for _, o := range j.Owned {
		if err := checkName(o); err != nil {
			return journal{}, err
		}
	}
	// Folders may be above the owned ones: "cuda" above "cuda/kernels".
	for _, d := range slices.Concat(j.Rmdir, j.Mkdir) {
		above := func(o string) bool { return o == d || within(o, d) }
		if err := checkName(d); err != nil {
			return journal{}, err
		}
		if ownerOf(j.Owned, d) == "" && !slices.ContainsFunc(j.Owned, above) {
			return journal{}, fmt.Errorf("%q: outside the owned folders", d)
		}
	}
	for _, st := range j.Steps {
		if err := checkName(st.Path); err != nil {
			return journal{}, err
		}
		if ownerOf(j.Owned, st.Path) == "" {
			return journal{}, fmt.Errorf("%q: outside the owned folders", st.Path)
		}
	}
	j.fresh, j.saved = newDir, oldDir
	return j, nil
}

// readJournal returns the journal of an interrupted run and whether there is one.
func readJournal(root *os.Root) (journal, bool, error) {
	name := path.Join(workDir, journalName)
	data, err := root.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return journal{}, false, nil
	}
	if err != nil {
		return journal{}, false, err
	}
	j, err := decodeJournal(data)
	if err != nil {
		// It was renamed into place whole, so another hand wrote this.
		return journal{}, true, fmt.Errorf("%s: %w; delete %s and generate again", name, err, workDir)
	}
	return j, true, nil
}

// absent and foreign are used instead of a digest.
const (
	absent  = ""
	foreign = "foreign"
)

// digestOf returns the digest of a target. A folder that the journal makes or
// removes counts as no file.
func (j journal) digestOf(root *os.Root, p string) (string, error) {
	for i := strings.IndexByte(p, '/'); ; i = next(p, i) {
		info, err := root.Lstat(p[:i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return absent, nil
		case err != nil:
			return "", err
		case i == len(p):
			return j.lookAtFile(root, p, info)
		case info.Mode().IsRegular():
			return absent, nil // a file that will give way to a folder, or has just come back
		case !info.IsDir():
			return foreign, nil
		}
	}
}

// next returns the end of the path element after the one that ends at i.
func next(p string, i int) int {
	if n := strings.IndexByte(p[i+1:], '/'); n >= 0 {
		return i + 1 + n
	}
	return len(p)
}

func (j journal) lookAtFile(root *os.Root, p string, info fs.FileInfo) (string, error) {
	if info.IsDir() && (slices.Contains(j.Rmdir, p) || slices.Contains(j.Mkdir, p)) {
		return absent, nil
	}
	if !info.Mode().IsRegular() {
		return foreign, nil
	}
	data, err := root.ReadFile(p)
	if err != nil {
		return "", err
	}
	return digest(data), nil
}
