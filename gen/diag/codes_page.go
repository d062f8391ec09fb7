package diag

// Codes of gen/markdown: the page as a file, its fences and its header.
const (
	InvalidUTF8   Code = 1001
	UnclosedFence Code = 1002
	HeaderTwice   Code = 1003
	UnknownField  Code = 1004
	MissingField  Code = 1005
	FieldTwice    Code = 1006
	MissingHeader Code = 1007
	EmptyField    Code = 1008
	Unreadable    Code = 1009
	UnknownFence  Code = 1010
	LoneReturn    Code = 1011
)

// exampleHeader is the start of every example below; the examples end it as they like.
const exampleHeader = "# Delta rule\n\n```text\nCONTRACT\n" +
	"  Purpose:    one step of the delta rule\n" +
	"  Expects:    a key, a value and a query\n" +
	"  Guarantees: the output is finite\n" +
	"  Cost:       O(d_k d_v) per token\n" +
	"  Trade-off:  a matrix forgets less than a vector and costs more\n" +
	"  Position:   specs/algorithms/name.md\n"

const (
	headerSource = "  Source:     empirical\n```\n"
	hecateBlock  = "\n```hecate\nop Twice(x ∈ ℝ^{n}) → out = x + x\n```\n"
	wholePage    = exampleHeader + headerSource + hecateBlock
)

var pageCodes = map[Code]Explanation{
	InvalidUTF8: {Page: true, Summary: "A page is read as UTF-8. An invalid byte makes every position after it doubtful, so the first one is reported.",
		Wrong: "# Delta\xff rule\n",
		Right: "# Delta rule\n"},
	UnclosedFence: {Page: true, Summary: "A fence runs to a line of at least as many of the same marks. Without one it swallows the rest of the page. In a hecate fence this is an error, in others a warning.",
		Wrong: exampleHeader + headerSource + "\n```hecate\nop Twice(x ∈ ℝ^{n}) → out = x + x\n",
		Right: wholePage},
	UnknownFence: {Page: true, Summary: "A fence hecate is compiled, a fence hecate example is only checked. Any other second word would be compiled without a word, and a misspelt hecate on a page with a header would be passed over.",
		Wrong: exampleHeader + headerSource + "\n```hecate exmaple\nop Twice(x ∈ ℝ^{n}) → out = x + x\n```\n",
		Right: wholePage},
	LoneReturn: {Page: true, Summary: "A line of a page ends in LF or in CRLF. Where it ends in CR alone, everything may be one line, and nothing of it a fence.",
		Wrong: "# Delta\rrule\n",
		Right: "# Delta rule\n"},
	HeaderTwice: {Page: true, Summary: "A page has one contract header. Two leave it open which one holds. A header that is shown as an example goes into a fence with the word example in its info string.",
		Wrong: exampleHeader + headerSource + "\n```text\nCONTRACT\n  Purpose: something else\n```\n" + hecateBlock,
		Right: exampleHeader + headerSource + "\n```text example\nCONTRACT\n  Purpose: something else\n```\n" + hecateBlock},
	UnknownField: {Page: true, Summary: "The names of fields are a closed set: Purpose, Expects, Guarantees, Cost, Trade-off, Position, Source, Related, Extends, Depends, Traced equations, Tokenizer. A line at the indentation of the fields that nearly has one of these names, or on a page with hecate blocks any other name, is reported; a deeper line is text.",
		Wrong: exampleHeader + "  Gaurantees: none\n" + headerSource + hecateBlock,
		Right: wholePage},
	MissingField: {Page: true, Summary: "A page with hecate blocks has all seven standard fields. On other pages a missing one is a warning.",
		Wrong: exampleHeader + "```\n" + hecateBlock,
		Right: wholePage},
	FieldTwice: {Page: true, Summary: "A field occurs once in a header.",
		Wrong: exampleHeader + "  Cost:       nothing\n" + headerSource + hecateBlock,
		Right: wholePage},
	MissingHeader: {Page: true, Summary: "A page with hecate blocks opens with a contract header, before its first section.",
		Wrong: "# Delta rule\n" + hecateBlock,
		Right: wholePage},
	EmptyField: {Page: true, Summary: "A field of a page with hecate blocks says something; write none where there is nothing to say.",
		Wrong: exampleHeader + "  Source:\n```\n" + hecateBlock,
		Right: wholePage},
	Unreadable: {Page: true, Summary: "A file or folder that was named, or is in a named folder, cannot be read. Nor can a link to a folder or a page, which would have two paths, a file whose name ends in .MD, and a name with control characters.",
		Wrong: "hecategen inspect no/such/page.md",
		Right: "hecategen inspect specs"},
}
