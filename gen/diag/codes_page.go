package diag

// Codes of gen/markdown: the page as a file, its fences and its header.
const (
	// InvalidUTF8 occurs when a page has bytes that are not UTF-8.
	InvalidUTF8 Code = 1001
	// UnclosedFence occurs when a page ends inside a fence.
	UnclosedFence Code = 1002
	// HeaderTwice occurs when a page has more than one contract header.
	HeaderTwice Code = 1003
	// UnknownField occurs when a line of a header looks like a field but its
	// name is not in the closed set.
	UnknownField Code = 1004
	// MissingField occurs when a header lacks one of the seven standard fields.
	MissingField Code = 1005
	// FieldTwice occurs when a header has the same field twice.
	FieldTwice Code = 1006
	// MissingHeader occurs when a page has hecate blocks but no header.
	MissingHeader Code = 1007
	// EmptyField occurs when a field of a page of ours has no value.
	EmptyField Code = 1008
	// Unreadable occurs when a file or folder cannot be read.
	Unreadable Code = 1009
	// UnknownFence occurs when a fence is nearly hecate or hecate example.
	UnknownFence Code = 1010
	// LoneReturn occurs when a page has a carriage return without a line feed.
	LoneReturn Code = 1011
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

var _ = registered(map[Code]Explanation{
	InvalidUTF8: {
		Summary: "A page is read as UTF-8. An invalid byte makes every position after it doubtful, so the first one is reported.",
		Wrong:   "# Delta\xff rule\n",
		Right:   "# Delta rule\n",
		Page:    true,
	},
	UnclosedFence: {
		Summary: "A fence runs to a line of at least as many of the same marks. Without one it swallows the rest of the page. In a hecate fence this is an error, in others a warning.",
		Wrong:   exampleHeader + headerSource + "\n```hecate\nop Twice(x ∈ ℝ^{n}) → out = x + x\n",
		Right:   wholePage,
		Page:    true,
	},
	UnknownFence: {
		Summary: "A fence hecate is compiled, a fence hecate example is only checked. Any other second word would be compiled without a word, and a misspelt hecate on a page with a header would be passed over.",
		Wrong:   exampleHeader + headerSource + "\n```hecate exmaple\nop Twice(x ∈ ℝ^{n}) → out = x + x\n```\n",
		Right:   wholePage,
		Page:    true,
	},
	LoneReturn: {
		Summary: "A line of a page ends in LF or in CRLF. Where it ends in CR alone, everything may be one line, and nothing of it a fence.",
		Wrong:   "# Delta\rrule\n",
		Right:   "# Delta rule\n",
		Page:    true,
	},
	HeaderTwice: {
		Summary: "A page has one contract header. Two leave it open which one holds. A header that is shown as an example goes into a fence with the word example in its info string.",
		Wrong:   exampleHeader + headerSource + "\n```text\nCONTRACT\n  Purpose: something else\n```\n" + hecateBlock,
		Right:   exampleHeader + headerSource + "\n```text example\nCONTRACT\n  Purpose: something else\n```\n" + hecateBlock,
		Page:    true,
	},
	UnknownField: {
		Summary: "The names of fields are a closed set: Purpose, Expects, Guarantees, Cost, Trade-off, Position, Source, Related, Extends, Depends, Traced equations, Tokenizer. A line at the indentation of the fields that nearly has one of these names, or on a page with hecate blocks any other name, is reported; a deeper line is text.",
		Wrong:   exampleHeader + "  Gaurantees: none\n" + headerSource + hecateBlock,
		Right:   wholePage,
		Page:    true,
	},
	MissingField: {
		Summary: "A page with hecate blocks has all seven standard fields. On other pages a missing one is a warning.",
		Wrong:   exampleHeader + "```\n" + hecateBlock,
		Right:   wholePage,
		Page:    true,
	},
	FieldTwice: {
		Summary: "A field occurs once in a header.",
		Wrong:   exampleHeader + "  Cost:       nothing\n" + headerSource + hecateBlock,
		Right:   wholePage,
		Page:    true,
	},
	MissingHeader: {
		Summary: "A page with hecate blocks opens with a contract header, before its first section.",
		Wrong:   "# Delta rule\n" + hecateBlock,
		Right:   wholePage,
		Page:    true,
	},
	EmptyField: {
		Summary: "A field of a page with hecate blocks says something; write none where there is nothing to say.",
		Wrong:   exampleHeader + "  Source:\n```\n" + hecateBlock,
		Right:   wholePage,
		Page:    true,
	},
	Unreadable: {
		Summary: "A file or folder that was named, or is in a named folder, cannot be read. Nor can a link to a folder or a page, which would have two paths, a file whose name ends in .MD, and a name with control characters.",
		Wrong:   "hecategen inspect no/such/page.md",
		Right:   "hecategen inspect specs",
		Page:    true,
	},
})

// registered lets a table of explanations register itself.
func registered(m map[Code]Explanation) bool {
	register(m)
	return true
}
