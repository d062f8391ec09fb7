package spec

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/source"
)

// A Form is one of the shapes in which contract headers occur.
type Form int

const (
	_              Form = iota
	FencedText          // V1: fence with an info string, CONTRACT on its first line
	Fenced              // V2 and most seeds: the same without an info string
	Table               // V3: heading and a two-column table
	TableBold           // V4: the same with bold names
	Bullets             // V5: heading and `- **Name**: value`
	BoldParagraphs      // V6: heading and `**Name**: value` paragraphs
	FrontMatter         // V7: between two --- lines, before any title
	Bare                // V8 and one seed: CONTRACT and lines up to the first blank one
	HeadedFence         // heading and a fence below it: ours to accept, nobody's habit
	HeadedPlain         // heading and plain `Name: value` lines
)

func (f Form) String() string {
	return [...]string{"invalid", "fenced text", "fenced", "table", "bold table", "bullets",
		"bold paragraphs", "front matter", "bare", "headed fence", "headed lines"}[f]
}

// A Contract is the header of a page: its fields in the order of the page.
type Contract struct {
	Form   Form
	Span   source.Span
	Fields []Field
}

// Field returns the first field of that name, or nil.
func (c *Contract) Field(name FieldName) *Field {
	if c == nil {
		return nil
	}
	for i := range c.Fields {
		if c.Fields[i].Name == name {
			return &c.Fields[i]
		}
	}
	return nil
}

// Value returns the text of a field, "" where the header has none.
func (c *Contract) Value(name FieldName) string {
	if f := c.Field(name); f != nil {
		return f.Value
	}
	return ""
}

// A FieldName is one of the closed set of names; anything else that ends in a
// colon is text.
type FieldName string

const (
	Purpose         FieldName = "Purpose"
	Expects         FieldName = "Expects"
	Guarantees      FieldName = "Guarantees"
	Cost            FieldName = "Cost"
	TradeOff        FieldName = "Trade-off"
	Position        FieldName = "Position"
	Source          FieldName = "Source"
	Related         FieldName = "Related"
	Extends         FieldName = "Extends"
	Depends         FieldName = "Depends"
	TracedEquations FieldName = "Traced equations"
	Tokenizer       FieldName = "Tokenizer"
)

// StandardFields are the seven that every page of ours must have, in order.
var StandardFields = []FieldName{Purpose, Expects, Guarantees, Cost, TradeOff, Position, Source}

// FieldNames is the closed set: the standard seven and the five extras.
var FieldNames = append(slices.Clone(StandardFields), Related, Extends, Depends, TracedEquations, Tokenizer)

// A Field is one field of a header.
type Field struct {
	Name      FieldName
	Value     string // lines joined by \n, common indentation removed
	NameSpan  source.Span
	ValueSpan source.Span // zero where the value is empty
	Tags      []Tag
	Parts     []Part
}

// A Part is one statement of a field: fields are divided at semicolons and at
// bullets, not inside brackets or code. A part with a tag must be backed by a
// line of a hecate block; a part without is prose only.
type Part struct {
	Text string // on one line, tags removed
	Span source.Span
	Tags []Tag
}

// A Tag is a mark such as {cost} or {inv:unit} inside a value.
type Tag struct {
	Text string // without the braces
	Kind string // before the colon: inv
	Arg  string // after the colon: unit; empty where there is none
	Span source.Span
}
