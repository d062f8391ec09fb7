package config

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A leaf is a value of a file with its full key; a table's header is a leaf
// without a value.
type leaf struct {
	path   []string // that of a list of tables has their numbers
	at     Place    // of the key as it is written here
	value  value
	header bool
	item   bool // a table of a list of tables
}

// A value is the value of a key.
type value struct {
	kind unstable.Kind
	word string // as written; the contents of a string
	list []value
	at   Place

	inside func(at int) Place // of a string: the place of its byte at
}

// parse reads a file: its leaves in order, or its syntax errors.
func parse(file string, data []byte) ([]leaf, *Problem) {
	r := reader{file: file, data: data, count: map[string]int{}, starts: []int{0}}
	for i, b := range data {
		if b == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
	var all map[string]any
	if err := toml.Unmarshal(data, &all); err != nil {
		p := Problem{Place: Place{File: file}, Message: strings.TrimPrefix(err.Error(), "toml: ")}
		if d := new(toml.DecodeError); errors.As(err, &d) {
			line, col := d.Position()
			p.Place = r.line(line, col)
		}
		return nil, &p
	}
	var p unstable.Parser
	p.Reset(data)
	var prefix []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			keys, at := r.keys(e.Key())
			prefix = r.numbered(keys)
			r.leaves = append(r.leaves, leaf{path: prefix, at: at, header: true})
		case unstable.ArrayTable:
			keys, at := r.keys(e.Key())
			name := strings.Join(keys, ".")
			n := r.count[name]
			r.count[name]++
			prefix = append(keys, strconv.Itoa(n))
			r.leaves = append(r.leaves, leaf{path: prefix, at: at, header: true, item: true})
		case unstable.KeyValue:
			r.pair(prefix, e)
		}
	}
	return r.leaves, nil
}

// A reader makes leaves of the nodes of the parser.
type reader struct {
	file   string
	data   []byte
	count  map[string]int // of repeated tables
	leaves []leaf
	starts []int // of lines
}

// numbered appends the number of the last repeated table to its name.
func (r *reader) numbered(keys []string) []string {
	if n, ok := r.count[keys[0]]; ok && len(keys) > 1 {
		return append([]string{keys[0], strconv.Itoa(n - 1)}, keys[1:]...)
	}
	return keys
}

// pair adds a key with its value; tables within a value become leaves too.
func (r *reader) pair(prefix []string, e *unstable.Node) {
	keys, at := r.keys(e.Key())
	path := append(slices.Clone(prefix), keys...)
	v := e.Value()
	switch {
	case v.Kind == unstable.InlineTable:
		r.leaves = append(r.leaves, leaf{path: path, at: at, header: true})
		for it := v.Children(); it.Next(); {
			r.pair(path, it.Node())
		}
		return
	case v.Kind == unstable.Array && v.Child().Valid() && v.Child().Kind == unstable.InlineTable:
		n := 0
		for it := v.Children(); it.Next(); n++ {
			item := append(slices.Clone(path), strconv.Itoa(n))
			r.leaves = append(r.leaves, leaf{path: item, at: at, header: true, item: true})
			if it.Node().Kind != unstable.InlineTable {
				r.leaves = append(r.leaves, leaf{path: item, at: at, value: r.value(it.Node(), at)})
			} else {
				for pairs := it.Node().Children(); pairs.Next(); {
					r.pair(item, pairs.Node())
				}
			}
		}
		return
	}
	r.leaves = append(r.leaves, leaf{path: path, at: at, value: r.value(v, at)})
}

// value copies a value out of the parser; without a place of its own it has its
// key's.
func (r *reader) value(n *unstable.Node, key Place) value {
	v := value{kind: n.Kind, word: string(n.Data), at: key}
	if n.Raw.Length > 0 {
		lo, hi := int(n.Raw.Offset), int(n.Raw.Offset+n.Raw.Length)
		v.at = r.span(lo, hi)
		if n.Kind == unstable.String {
			v.inside = func(at int) Place { lo := lo + offset(r.data[lo:hi], at); return r.span(lo, lo) }
		}
	}
	if n.Kind == unstable.Array {
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				v.list = append(v.list, r.value(it.Node(), key))
			}
		}
	}
	return v
}

// keys returns the parts of a key and their places.
func (r *reader) keys(it unstable.Iterator) (parts []string, at Place) {
	lo, hi := -1, 0
	for it.Next() {
		n := it.Node()
		parts = append(parts, string(n.Data))
		if lo < 0 {
			lo = int(n.Raw.Offset)
		}
		hi = int(n.Raw.Offset + n.Raw.Length)
	}
	return parts, r.span(lo, hi)
}

// span is the place of bytes lo to hi, up to the end of the first line.
func (r *reader) span(lo, hi int) Place {
	n := sort.SearchInts(r.starts, lo+1) // the line that lo is in, from 1
	p := r.line(n, lo-r.starts[n-1]+1)
	text, _, _ := strings.Cut(string(r.data[lo:hi]), "\n")
	p.Width = utf8.RuneCountInString(text)
	return p
}

// end is where a line ends.
func (r *reader) end(line int) int {
	if line < len(r.starts) {
		return r.starts[line]
	}
	return len(r.data)
}

// line is a place in a line of the file; col counts bytes.
func (r *reader) line(line, col int) Place {
	p := Place{File: r.file, Line: line, Col: col, Width: 1}
	if line >= 1 && line <= len(r.starts) {
		text, _, _ := strings.Cut(string(r.data[r.starts[line-1]:r.end(line)]), "\n")
		p.Text = strings.TrimSuffix(text, "\r")
		p.Col = utf8.RuneCountInString(text[:min(max(col-1, 0), len(text))]) + 1
	}
	return p
}
