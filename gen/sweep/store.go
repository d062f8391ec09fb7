package sweep

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A Store keeps rows in a file, one line of JSON each, as they come. A line that
// cannot be read is one that an interrupted sweep left, and is dropped.
type Store struct {
	mu   sync.Mutex
	file *os.File
	rows map[string]Row
}

// Open reads the rows of a file and opens it for more; its folder is made.
func Open(path string) (*Store, error) {
	s := &Store{rows: map[string]Row{}}
	text, err := os.Open(path)
	if err == nil {
		lines := bufio.NewScanner(text)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var r Row
			if json.Unmarshal(lines.Bytes(), &r) == nil && r.Key != "" {
				s.rows[r.Key] = r
			}
		}
		err = errors.Join(lines.Err(), text.Close())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the rows of an earlier sweep: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	s.file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("keep the rows of a sweep: %w", err)
	}
	// A line that was cut off must not take the next one with it.
	_, err = s.file.WriteString("\n")
	return s, err
}

// Row returns the row of a key.
func (s *Store) Row(key string) (Row, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.rows[key]
	return r, ok
}

// Add keeps a row.
func (s *Store) Add(r Row) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[r.Key] = r
	_, err = s.file.Write(append(text, '\n'))
	return err
}

// Close ends the store.
func (s *Store) Close() error { return s.file.Close() }
