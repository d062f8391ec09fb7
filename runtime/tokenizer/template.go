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
func (s *reading) readPost(n node) error {
	o, ok := n.value.(object)
	switch {
	case n.value == nil:
		return nil
	case ok && o.values["type"].value == any("Sequence"):
		o, err := n.typed("Sequence", "processors")
		if err != nil {
			return err
		}
		steps, err := o.values["processors"].list()
		for _, step := range steps {
			if err == nil {
				err = s.readPost(step)
			}
		}
		return err
	case ok && o.values["type"].value == any("TemplateProcessing"):
		return s.readTemplate(n)
	}
	_, _, err := n.byteLevel()
	return err
}

// readTemplate reads the template of one text. That each id is an added token
// is found out when all tokens are known.
func (s *reading) readTemplate(n node) error {
	o, err := n.typed("TemplateProcessing", "single", "pair", "special_tokens")
	if err != nil {
		return err
	}
	if s.Before != nil || s.After != nil {
		return n.fail("a second template is not understood")
	}
	pieces, err := o.values["single"].list()
	if err != nil {
		return err
	}
	texts := 0
	for _, piece := range pieces {
		ids, text, err := readPiece(piece, o.values["special_tokens"])
		switch {
		case err != nil:
			return err
		case text:
			texts++
		case texts == 0:
			s.Before = append(s.Before, ids...)
		default:
			s.After = append(s.After, ids...)
		}
	}
	if texts != 1 {
		return o.values["single"].fail("the text is %d times in the template, want once", texts)
	}
	return nil
}

// readPiece returns the ids of a piece of a template, or that it is the text.
func readPiece(n, specials node) (ids []int32, text bool, err error) {
	p, err := n.object("SpecialToken", "Sequence")
	if err != nil {
		return nil, false, err
	}
	if token := p.values["SpecialToken"]; token.value != nil {
		ids, err = readSpecial(token, specials)
		return ids, false, err
	}
	o, err := p.values["Sequence"].object("id", "type_id")
	if err == nil {
		err = o.values["id"].only(`want "A"`, "A")
	}
	return nil, true, err
}

// readSpecial returns the ids of a special token of a template.
func readSpecial(token, table node) ([]int32, error) {
	o, err := token.object("id", "type_id")
	if err != nil {
		return nil, err
	}
	name, err := o.values["id"].text()
	if err != nil {
		return nil, err
	}
	all, ok := table.value.(object)
	if !ok {
		return nil, table.fail("%v is not understood: want an object of special tokens", table)
	}
	special, ok := all.values[name]
	if !ok {
		return nil, o.values["id"].fail("%q is not one of the special_tokens", name)
	}
	if o, err = special.object("id", "ids", "tokens"); err != nil {
		return nil, err
	}
	list, err := o.values["ids"].list()
	var ids []int32
	for _, n := range list {
		id, e := n.id()
		if e != nil {
			return nil, e
		}
		ids = append(ids, id)
	}
	return ids, err
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
