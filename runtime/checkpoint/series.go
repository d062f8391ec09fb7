package checkpoint

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Series is the checkpoints of one run in one folder, NAME-STEP.safetensors
// each. A new one is written whole before an old one goes. What stays is read off
// the files themselves, their names and the score in their metadata; no list is
// kept beside them that could say something else. So a run that is killed anywhere
// in between leaves at most a file too many, which the next write takes away.
type Series struct {
	Dir  string
	Name string
	Keep int  // the newest that stay; 0 is all
	Best bool // the one of the lowest score stays as well
}

// Keys of the metadata of a file of a series.
const (
	stepKey  = "series.step"
	scoreKey = "series.score"
)

// A Member is one file of a series.
type Member struct {
	Path  string
	Step  uint64
	Score float64 // NaN: it has none
}

// ending is that of every checkpoint; digits is how many a step has at least, so
// that names sort as steps do.
const (
	ending = ".safetensors"
	digits = 9
)

// path is where the checkpoint of a step lies.
func (s Series) path(step uint64) string {
	return filepath.Join(s.Dir, fmt.Sprintf("%s-%0*d%s", s.Name, digits, step, ending))
}

// Write puts the checkpoint of a step beside the others, makes the folder if there
// is none, and then removes what need not stay. score is what the run is judged
// by, less being better, or NaN. It returns the file's path. An error before the
// file is whole leaves all others as they were; one behind it, that an old file
// could not be removed, comes with the path.
func (s Series) Write(step uint64, score float64, snap *Snapshot) (string, error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return "", fmt.Errorf("write checkpoint: %w", err)
	}
	snap.SetMeta(stepKey, strconv.FormatUint(step, 10))
	snap.SetMeta(scoreKey, strconv.FormatFloat(score, 'g', -1, 64))
	sweep(s.Dir, func(name string) bool {
		_, ours := s.step(name)
		return ours
	})
	path := s.path(step)
	if err := Write(path, snap); err != nil {
		return "", err
	}
	return path, s.prune()
}

// prune removes what is neither among the newest nor the best. A file whose header
// cannot be read stays: somebody will want to see it.
func (s Series) prune() error {
	if s.Keep == 0 {
		return nil
	}
	all, err := s.Members()
	if err != nil {
		return err
	}
	best := best(all)
	for i, m := range all {
		if i >= len(all)-s.Keep || s.Best && i == best {
			continue
		}
		if err := os.Remove(m.Path); err != nil {
			return fmt.Errorf("remove old checkpoint: %w", err)
		}
	}
	return nil
}

// best is the place of the lowest score, of equals the earliest; -1 if none has a
// score.
func best(all []Member) int {
	at := -1
	for i, m := range all {
		if !math.IsNaN(m.Score) && (at < 0 || m.Score < all[at].Score) {
			at = i
		}
	}
	return at
}

// Members returns the files of the series whose headers can be read, by step. A
// folder that is not there has none.
func (s Series) Members() ([]Member, error) {
	entries, err := os.ReadDir(s.Dir)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list checkpoints: %w", err)
	}
	var out []Member
	for _, e := range entries {
		step, ok := s.step(e.Name())
		if !ok {
			continue
		}
		m := Member{Path: filepath.Join(s.Dir, e.Name()), Step: step}
		if m.Score, err = readScore(m.Path); err == nil {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b Member) int { return cmp.Compare(a.Step, b.Step) })
	return out, nil
}

// step is that of the member with a file name; ok is false for other files.
func (s Series) step(name string) (step uint64, ok bool) {
	number, ours := strings.CutPrefix(name, s.Name+"-")
	step, err := strconv.ParseUint(strings.TrimSuffix(number, ending), 10, 64)
	return step, ours && err == nil && filepath.Base(s.path(step)) == name
}

// Latest returns the member of the highest step; ok is false if there is none. It
// is read by Read, which refuses a file that is damaged: nobody goes on from an
// older one without being told.
func (s Series) Latest() (m Member, ok bool, err error) {
	all, err := s.Members()
	if err != nil || len(all) == 0 {
		return Member{}, false, err
	}
	return all[len(all)-1], true, nil
}

// BestOf returns the member of the lowest score; ok is false if none has one.
func (s Series) BestOf() (m Member, ok bool, err error) {
	all, err := s.Members()
	if err != nil {
		return Member{}, false, err
	}
	if i := best(all); i >= 0 {
		return all[i], true, nil
	}
	return Member{}, false, nil
}

// readScore reads the score in a file's header, and nothing else of it.
func readScore(path string) (float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var length [lengthBytes]byte
	if _, err := io.ReadFull(f, length[:]); err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader {
		return 0, fail("", ErrHeader, "%d bytes long, at most %d", n, maxHeader)
	}
	head := make([]byte, n)
	if _, err := io.ReadFull(f, head); err != nil {
		return 0, err
	}
	_, meta, err := parseHeader(head)
	if err != nil {
		return 0, err
	}
	score, err := strconv.ParseFloat(meta[scoreKey], 64)
	if err != nil {
		return math.NaN(), nil // written by hand, or by Write alone
	}
	return score, nil
}
