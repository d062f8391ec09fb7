package tokenizer

import "fmt"

// A template says which special tokens frame a text: before a document, where many
// models expect one, and after it. Of the two
// templates of a TemplateProcessing only that of one text matters here; the
// one of two texts is read over, and written as the first one twice.

type jsonPiece map[string]jsonPlace

type jsonPlace struct {
	ID   string `json:"id"`
	Type int    `json:"type_id"`
}

type jsonSpecial struct {
	ID     string   `json:"id"`
	IDs    []int32  `json:"ids"`
	Tokens []string `json:"tokens"`
}

type jsonTemplate struct {
	Type     string                 `json:"type"`
	Single   []jsonPiece            `json:"single"`
	Pair     []jsonPiece            `json:"pair"`
	Specials map[string]jsonSpecial `json:"special_tokens"`
}

// Frame returns the special tokens before and after a document, not to be changed.
func (b *BPE) Frame() (before, after []int32) { return b.spec.Before, b.spec.After }

// template is the post-processor of a tokenizer.json.
func (b *BPE) template() any {
	if len(b.spec.Before)+len(b.spec.After) == 0 {
		return nil
	}
	out := jsonTemplate{Type: "TemplateProcessing", Specials: map[string]jsonSpecial{}}
	around := func(text string, kind int) (list []jsonPiece) {
		add := func(ids []int32) {
			for _, id := range ids {
				name := b.extra[id].Content
				out.Specials[name] = jsonSpecial{name, []int32{id}, []string{name}}
				list = append(list, jsonPiece{"SpecialToken": {name, kind}})
			}
		}
		add(b.spec.Before)
		list = append(list, jsonPiece{"Sequence": {text, kind}})
		add(b.spec.After)
		return list
	}
	out.Single = around("A", 0)
	out.Pair = append(around("A", 0), around("B", 1)...)
	return out
}

// readPost reads a post-processor, or each of a Sequence.
func (s *reading) readPost(n node) {
	switch {
	case n.value == nil:
	case n.isType("Sequence"):
		for _, step := range n.typed("Sequence", "processors")["processors"].list() {
			s.readPost(step)
		}
	case n.isType("TemplateProcessing"):
		s.readTemplate(n)
	default:
		n.byteLevel()
	}
}

// readTemplate reads the template of one text. That each id is an added token
// is found out when all tokens are known.
func (s *reading) readTemplate(n node) {
	v := n.typed("TemplateProcessing", "single", "pair", "special_tokens")
	if s.Before != nil || s.After != nil {
		panic(n.fail("a second template is not understood"))
	}
	texts := 0
	for _, piece := range v["single"].list() {
		switch ids, text := readPiece(piece, v["special_tokens"]); {
		case text:
			texts++
		case texts == 0:
			s.Before = append(s.Before, ids...)
		default:
			s.After = append(s.After, ids...)
		}
	}
	if texts != 1 {
		panic(v["single"].fail("the text is %d times in the template, want once", texts))
	}
}

// readPiece returns the ids of a piece of a template, or that it is the text.
func readPiece(n, specials node) (ids []int32, text bool) {
	v := n.object("SpecialToken", "Sequence")
	if token := v["SpecialToken"]; token.value != nil {
		return readSpecial(token, specials), false
	}
	v["Sequence"].object("id", "type_id")["id"].only(`want "A"`, "A")
	return nil, true
}

// readSpecial returns the ids of a special token of a template.
func readSpecial(token, table node) (ids []int32) {
	id := token.object("id", "type_id")["id"]
	name := id.text()
	all, ok := table.value.(object)
	if !ok {
		panic(table.fail("%v is not understood: want an object of special tokens", table))
	}
	special, ok := all.values[name]
	if !ok {
		panic(id.fail("%q is not one of the special_tokens", name))
	}
	for _, n := range special.object("id", "ids", "tokens")["ids"].list() {
		ids = append(ids, n.id())
	}
	return ids
}

// checkFrame wants special tokens around a document.
func (b *BPE) checkFrame() error {
	for _, ids := range [][]int32{b.spec.Before, b.spec.After} {
		for _, id := range ids {
			if t, ok := b.extra[id]; !ok || !t.Special {
				return fmt.Errorf("id %d frames a document and is not a special token", id)
			}
		}
	}
	return nil
}
