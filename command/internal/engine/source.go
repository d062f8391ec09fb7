package engine

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/synthetic"
	"github.com/nl-hecate/hecate/runtime/tokenizer"
)

// A reading is the input of a build: a source, split in two parts.
type reading struct {
	note           string
	source         stream.Source
	built, heldOut stream.Part
	tokenizer      tokenizer.Tokenizer // nil where ids are not text
	own            module.Identity     // properties that a resumed run must share, besides the cursors
	unit           string
	scale          [2]float64 // units per token of each part; a loss in bits per token is divided by it
	size           int        // in units
	ids            []int32    // of the held-out part
	last           int32      // token of the part that is built on
}

// rest reads the held-out part, and the token before it.
func (r *reading) rest() error {
	var last [1]int32
	_, hi := r.built.Bounds()
	err := r.source.Read(last[:], hi-1)
	if r.last = last[0]; err == nil {
		r.ids, err = ids(r.heldOut)
	}
	return err
}

// kinds open the kinds of streams, by the words of the key stream.kind.
var kinds = map[string]func(m *Modules, c *config.Loaded) (reading, error){
	"bytes":     (*Modules).texts,
	"text":      (*Modules).texts,
	"tokens":    tokenFiles,
	"synthetic": madeUp,
}

// source opens the input of a configuration.
func (m *Modules) source(c *config.Loaded) (r reading, err error) {
	s := c.Stream
	r, err = kinds[s.Kind](m, c)
	r.own = append(r.own, module.Field{Name: kindName, Value: s.Kind}, module.Field{Name: shareName, Value: fmt.Sprint(s.HeldOut)},
		module.Field{Name: separatorName, Value: s.Separator})
	if bpe, ok := r.tokenizer.(*tokenizer.BPE); ok {
		r.own = append(r.own, module.Field{Name: tokenizerName, Value: digest(bpe)})
	}
	return r, err
}

// Names in an identity that are read back from a checkpoint.
const (
	kindName      = "stream"
	shareName     = "held-out share"
	separatorName = "separator"
	tokenizerName = "tokenizer"
	sourceName    = "source"
	episodesName  = "episodes"
)

// digest is the digest of a tokenizer, as text.
func digest(t tokenizer.Tokenizer) (s string) {
	for _, w := range t.Digest() {
		s += fmt.Sprintf("%016x", w)
	}
	return s
}

// read opens the input of a configuration, and splits it.
func (m *Modules) read(c *config.Loaded) (r reading, err error) {
	if r, err = m.source(c); err != nil {
		return r, err
	}
	if err := r.cut(c.Stream.HeldOut); err != nil {
		return r, err
	}
	return r, r.measured()
}

// measured fills in the units of both parts.
func (r *reading) measured() error {
	r.unit, r.scale, r.size = "token", [2]float64{1, 1}, r.source.Len()
	if r.tokenizer == nil {
		return nil
	}
	r.unit, r.size = "byte", 0
	for i, p := range []stream.Part{r.built, r.heldOut} {
		n, err := tokenizer.Size(r.tokenizer, p)
		if err != nil {
			return err
		}
		r.scale[i] = float64(n) / float64(max(p.Len(), 1))
		r.size += n
	}
	return nil
}

// readWhole opens the input of a configuration to measure all of it except the first
// token.
func (m *Modules) readWhole(c *config.Loaded) (r reading, err error) {
	if r, err = m.source(c); err != nil {
		return r, err
	}
	n := r.source.Len()
	if n < 2 {
		return r, fmt.Errorf("%s has %s: the first is not predicted, and none follows", r.note, progress.Things(n, "token"))
	}
	if r.built, err = stream.Slice(r.source, 0, 1); err == nil {
		r.heldOut, err = stream.Slice(r.source, 1, n)
	}
	if err != nil {
		return r, err
	}
	return r, errors.Join(r.measured(), r.rest())
}

// texts opens files of text, as bytes or with a tokenizer.
func (m *Modules) texts(c *config.Loaded) (r reading, err error) {
	s := c.Stream
	var text *stream.Text
	if len(s.Path) > 1 || s.Separator != "" || s.Kind == "text" && len(s.Path) > 0 {
		r.note = strings.Join(s.Path, ", ")
		text, err = stream.OpenText(stream.TextOptions{Raw: s.Kind == "bytes", Separator: []byte(s.Separator)}, s.Path...)
		if err != nil {
			return r, fmt.Errorf("text: %w", err)
		}
	} else {
		path := ""
		if len(s.Path) == 1 {
			path = s.Path[0]
		}
		if r.note, text, err = m.OpenText(path); err != nil {
			return r, err
		}
	}
	if s.Kind == "bytes" {
		r.source = text
		r.tokenizer, err = tokenizer.NewBytes()
		return r, err
	}
	bpe, err := tokenizer.Open(s.Tokenizer)
	if err != nil {
		return r, fmt.Errorf("tokenizer: %w", err)
	}
	r.tokenizer = bpe
	r.source, err = tokenizer.Tokens(bpe, text)
	return r, err
}

// tokenFiles opens token files.
func tokenFiles(_ *Modules, c *config.Loaded) (r reading, err error) {
	s := c.Stream
	var all []stream.Source
	for _, path := range s.Path {
		f, err := stream.OpenTokens(path)
		if err != nil {
			return r, fmt.Errorf("tokens: %w", err)
		}
		if s.Tokenizer != "" {
			bpe, err := tokenizer.Open(s.Tokenizer)
			if err != nil {
				return r, fmt.Errorf("tokenizer: %w", err)
			}
			if err := f.CheckTokenizer(bpe.Digest()); err != nil {
				return r, fmt.Errorf("tokens: %w", err)
			}
			r.tokenizer = bpe
		}
		all = append(all, f)
	}
	r.note = strings.Join(s.Path, ", ")
	if len(all) == 1 {
		r.source = all[0]
		return r, nil
	}
	r.source, err = stream.Join(all...)
	return r, err
}

// madeUp makes a synthetic source.
func madeUp(_ *Modules, c *config.Loaded) (r reading, err error) {
	k, err := synthetic.Parse(c.Stream.Source)
	if err != nil {
		return r, c.Wrong("stream.source", "stream.source: "+strings.TrimPrefix(err.Error(), "synthetic: "), "")
	}
	s, err := synthetic.New(k, c.Model.Seed, c.Stream.Episodes)
	if err != nil {
		return r, c.Wrong("stream.episodes", err.Error(), "")
	}
	r.source, r.note = s, s.Name()
	r.own = module.Identity{{Name: sourceName, Value: k.String()}, {Name: episodesName, Value: fmt.Sprint(c.Stream.Episodes)}}
	return r, nil
}

// cut holds out a share at the end; of a synthetic source whole episodes.
func (r *reading) cut(share float64) (err error) {
	if s, ok := r.source.(*synthetic.Source); ok {
		n := s.Len() / s.Kind().Length()
		at := min(max(n-int(math.Round(float64(n)*share)), 1), n-1)
		if r.built, err = s.Episodes(0, at); err == nil {
			r.heldOut, err = s.Episodes(at, n)
		}
		return err
	}
	n := r.source.Len()
	at := n - int(math.Round(float64(n)*share))
	if share == config.Default().Stream.HeldOut {
		r.built, r.heldOut = stream.Split(r.source) // which rounds as earlier checkpoints did
	} else if r.built, err = stream.Slice(r.source, 0, at); err == nil {
		r.heldOut, err = stream.Slice(r.source, at, n)
	}
	if err == nil && (r.built.Len() == 0 || r.heldOut.Len() == 0) {
		err = fmt.Errorf("text: %d tokens leave %d to build on and %d to hold out", n, r.built.Len(), r.heldOut.Len())
	}
	return err
}

// Tokens returns the tokens that a configuration builds on.
func (m *Modules) Tokens(c *config.Loaded) ([]int32, error) {
	r, err := m.read(c)
	if err != nil {
		return nil, err
	}
	return ids(r.built)
}

// text prints ids.
func (r *reading) text(ids []int32) ([]byte, error) {
	if r.tokenizer != nil {
		return tokenizer.Decode(r.tokenizer, nil, ids)
	}
	var words []string
	for _, x := range ids {
		words = append(words, fmt.Sprint(x))
	}
	return []byte(strings.Join(words, " ")), nil
}

// ids are the tokens of a part.
func ids(p stream.Part) ([]int32, error) {
	lo, _ := p.Bounds()
	out := make([]int32, p.Len())
	return out, p.Source().Read(out, lo)
}

// base is the name of a source in an identity: a file without its folder, since
// cursors have its digest.
func (r *reading) base() string {
	if strings.Contains(r.note, ", ") && r.tokenizer == nil || r.unit == "token" {
		return r.note
	}
	return filepath.Base(r.note)
}
