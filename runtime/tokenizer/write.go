package tokenizer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"
)

// The objects of a tokenizer.json, with their keys in the order of Hugging
// Face's library.

type jsonLevel struct {
	Type   string `json:"type"`
	Prefix bool   `json:"add_prefix_space"`
	Trim   bool   `json:"trim_offsets"`
	Regex  bool   `json:"use_regex"`
}

type jsonToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	Left       bool   `json:"lstrip"`
	Right      bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

type jsonModel struct {
	Type     string          `json:"type"`
	Dropout  any             `json:"dropout"`
	Unknown  any             `json:"unk_token"`
	Prefix   any             `json:"continuing_subword_prefix"`
	Suffix   any             `json:"end_of_word_suffix"`
	Fuse     bool            `json:"fuse_unk"`
	Fallback bool            `json:"byte_fallback"`
	Ignore   bool            `json:"ignore_merges"`
	Vocab    json.RawMessage `json:"vocab"`
	Merges   []string        `json:"merges"`
}

type jsonSplit struct {
	Type     string            `json:"type"`
	Pattern  map[string]string `json:"pattern"`
	Behavior string            `json:"behavior"`
	Invert   bool              `json:"invert"`
}

type jsonSequence struct {
	Type  string `json:"type"`
	Steps []any  `json:"pretokenizers"`
}

type jsonFile struct {
	Version   string      `json:"version"`
	Truncate  any         `json:"truncation"`
	Padding   any         `json:"padding"`
	Added     []jsonToken `json:"added_tokens"`
	Normalize any         `json:"normalizer"`
	Pre       any         `json:"pre_tokenizer"`
	Post      any         `json:"post_processor"`
	Decode    jsonLevel   `json:"decoder"`
	Model     jsonModel   `json:"model"`
}

// JSON returns the tokenizer as the text of a tokenizer.json, which Parse and
// Hugging Face's tokenizers read. Equal tokenizers have equal bytes: the
// vocabulary is in the order of ids, added tokens that have ids among the
// others' are in it, and merges are strings, which older versions want.
func (b *BPE) JSON() []byte {
	var pre any = jsonLevel{"ByteLevel", b.spec.PrefixSpace, true, b.spec.Split == GPT2}
	if b.spec.Split > GPT2 {
		pre = jsonSequence{"Sequence", []any{jsonSplit{"Split", map[string]string{"Regex": b.spec.Split.regex()}, "Isolated", false}, pre}}
	}
	list := []jsonToken{}
	for _, t := range b.byID() {
		list = append(list, jsonToken{ID: t.ID, Content: t.Content, Normalized: t.Normalized, Special: t.Special})
	}
	var normal any
	if b.spec.NFC {
		normal = map[string]string{"type": "NFC"}
	}
	return encode(jsonFile{
		Version: "1.0", Added: list, Normalize: normal, Pre: pre, Post: b.template(), Decode: jsonLevel{"ByteLevel", true, true, true},
		Model: jsonModel{Type: "BPE", Ignore: b.spec.IgnoreMerges, Vocab: b.vocabulary(), Merges: b.mergeLines()},
	})
}

// encode writes a value indented, with characters such as < as they are.
func encode(v any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tokenizer: BUG: %v", err))
	}
	return out.Bytes()
}

// regex is the expression that Parse knows a split by.
func (s Split) regex() string {
	for text, split := range splits {
		if split == s {
			return text
		}
	}
	panic("tokenizer: BUG: a split without an expression: " + s.String())
}

func (b *BPE) byID() []Added {
	return slices.SortedFunc(maps.Values(b.extra), func(x, y Added) int { return int(x.ID - y.ID) })
}

// vocabulary is the object from token to id.
func (b *BPE) vocabulary() json.RawMessage {
	last := len(b.spec.Tokens)
	for last > 0 && b.spec.Tokens[last-1] == nil {
		last--
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	for id, t := range b.spec.Tokens[:last] {
		key := spell(t)
		if t == nil {
			key = b.extra[int32(id)].Content
		}
		sep := byte(',')
		if id == 0 {
			sep = '{'
		}
		out.WriteByte(sep)
		if err := e.Encode(key); err != nil {
			panic(fmt.Sprintf("tokenizer: BUG: %v", err))
		}
		fmt.Fprintf(&out, ":%d", id)
	}
	out.WriteByte('}')
	return out.Bytes()
}

func (b *BPE) mergeLines() []string {
	lines := make([]string, len(b.spec.Merges))
	for i, m := range b.spec.Merges {
		lines[i] = spell(b.spec.Tokens[m.Left]) + " " + spell(b.spec.Tokens[m.Right])
	}
	return lines
}

// Save puts the tokenizer at path as a tokenizer.json, whole or not at all.
func (b *BPE) Save(path string) error {
	err := atomicfile.Write(path, func(f *os.File) error {
		_, err := f.Write(b.JSON())
		return err
	})
	if err != nil {
		return fmt.Errorf("save tokenizer: %w", err)
	}
	return nil
}
