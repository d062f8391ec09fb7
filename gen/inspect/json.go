package inspect

import (
	"encoding/json"
	"io"

	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/spec"
)

// The JSON form has types of its own, so that the data of the compiler can change without breaking
// its readers. Positions are byte offsets, and line and column from 1.

type jsonReport struct {
	Bibliography string     `json:"bibliography,omitempty"`
	Pages        []jsonPage `json:"pages"`
}

type jsonPage struct {
	Path         string         `json:"path"`
	Title        string         `json:"title"`
	Status       jsonStatus     `json:"status"`
	Notes        []jsonStatus   `json:"notes,omitempty"`
	Header       *jsonHeader    `json:"header"`
	ExtraHeaders []*jsonHeader  `json:"extra_headers,omitempty"`
	Blocks       []jsonBlock    `json:"blocks"`
	Citations    []jsonCitation `json:"citations"`
	References   []jsonRef      `json:"references"`
	Outline      []jsonEntry    `json:"outline"`
}

type jsonSpan struct {
	Start  int `json:"start"`
	End    int `json:"end"`
	Line   int `json:"line"`
	Column int `json:"column"`
}

type jsonStatus struct {
	Kind string    `json:"kind"`
	Text string    `json:"text,omitempty"`
	At   *jsonSpan `json:"at,omitempty"`
}

type jsonHeader struct {
	Form   string      `json:"form"`
	At     *jsonSpan   `json:"at"`
	Fields []jsonField `json:"fields"`
}

type jsonField struct {
	Name    string    `json:"name"`
	Value   string    `json:"value"`
	At      *jsonSpan `json:"at"`
	ValueAt *jsonSpan `json:"value_at,omitempty"`
	Tags    []jsonTag `json:"tags,omitempty"`
}

type jsonTag struct {
	Text string    `json:"text"`
	At   *jsonSpan `json:"at"`
}

type jsonBlock struct {
	Info    string    `json:"info"`
	Lines   int       `json:"lines"`
	Section string    `json:"section,omitempty"`
	At      *jsonSpan `json:"at"`
}

type jsonCitation struct {
	Text      string    `json:"text"`
	Canonical string    `json:"canonical"`
	State     string    `json:"state"`
	Implied   bool      `json:"implied,omitempty"`
	At        *jsonSpan `json:"at"`
}

type jsonRef struct {
	Target     string    `json:"target"`
	Fragment   string    `json:"fragment,omitempty"`
	Kind       string    `json:"kind"`
	State      string    `json:"state"`
	Path       string    `json:"path,omitempty"`
	Candidates []string  `json:"candidates,omitempty"`
	At         *jsonSpan `json:"at"`
}

type jsonEntry struct {
	Kind    string       `json:"kind"`
	Name    string       `json:"name,omitempty"`
	Text    string       `json:"text,omitempty"`
	Section string       `json:"section,omitempty"`
	Comment bool         `json:"comment,omitempty"`
	Members []jsonMember `json:"members,omitempty"`
	At      *jsonSpan    `json:"at"`
}

type jsonMember struct {
	Name     string    `json:"name"`
	Text     string    `json:"text,omitempty"`
	Note     string    `json:"note,omitempty"`
	Lifetime string    `json:"lifetime,omitempty"`
	At       *jsonSpan `json:"at"`
}

// JSON prints the report for a program.
func (r *Report) JSON(w io.Writer) error {
	out := jsonReport{Pages: mapped(r.Pages, pageJSON)}
	if r.Bibliography != nil {
		out.Bibliography = r.Bibliography.File.Path
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}

// mapped maps a list to its JSON form; an empty list stays a list.
func mapped[A, B any](list []A, f func(A) B) []B {
	out := make([]B, len(list))
	for i, a := range list {
		out[i] = f(a)
	}
	return out
}

func spanJSON(s source.Span) *jsonSpan {
	if s.IsZero() {
		return nil
	}
	line, col := s.File.Pos(s.Start)
	return &jsonSpan{s.Start, s.End, line, col}
}

func pageJSON(p *spec.Page) jsonPage {
	return jsonPage{
		Path: p.File.Path, Title: p.Title, Status: statusJSON(p.Status), Notes: mapped(p.Notes, statusJSON),
		Header: headerJSON(p.Header), ExtraHeaders: mapped(p.ExtraHeaders, headerJSON),
		Blocks: mapped(p.Blocks, func(b *spec.Block) jsonBlock {
			return jsonBlock{b.Info, len(b.Lines), b.Section, spanJSON(b.Span)}
		}),
		Citations: mapped(p.Citations, func(c spec.Citation) jsonCitation {
			return jsonCitation{c.Text, c.Canonical, c.State.String(), c.Implied, spanJSON(c.Span)}
		}),
		References: mapped(p.Refs, func(r spec.Ref) jsonRef {
			return jsonRef{r.Target, r.Fragment, r.Kind.String(), r.Resolution.String(), r.Path, r.Candidates, spanJSON(r.Span)}
		}),
		Outline: mapped(p.Outline, entryJSON),
	}
}

func statusJSON(s spec.Status) jsonStatus {
	return jsonStatus{s.Kind.String(), s.Text, spanJSON(s.Span)}
}

func headerJSON(h *spec.Contract) *jsonHeader {
	if h == nil {
		return nil
	}
	return &jsonHeader{h.Form.String(), spanJSON(h.Span), mapped(h.Fields, func(f spec.Field) jsonField {
		return jsonField{
			Name: string(f.Name), Value: f.Value, At: spanJSON(f.NameSpan), ValueAt: spanJSON(f.ValueSpan),
			Tags: mapped(f.Tags, func(t spec.Tag) jsonTag { return jsonTag{t.Text, spanJSON(t.Span)} }),
		}
	})}
}

func entryJSON(e spec.Entry) jsonEntry {
	return jsonEntry{
		Kind: string(e.Kind), Name: e.Name, Text: e.Text, Section: e.Section, Comment: e.Comment,
		Members: mapped(e.Members, func(m spec.Member) jsonMember {
			return jsonMember{m.Name, m.Text, m.Note, m.Lifetime(), spanJSON(m.Span)}
		}),
		At: spanJSON(e.Span),
	}
}
