package diag

// Codes of gen/inspect and of the bibliography: what a page points at.
const (
	AmbiguousRef     Code = 1101
	DanglingRef      Code = 1102
	UnknownPaper     Code = 1103
	NoEquationNumber Code = 1104
	EquationNotRead  Code = 1105
	BadPaperRow      Code = 1106
	NoSuchEquation   Code = 1107
	BackwardRange    Code = 1108
	NoSuchEdition    Code = 1109
	CitedDifferently Code = 1110
)

var referenceCodes = map[Code]Explanation{
	AmbiguousRef: {Page: true, Summary: "A reference is tried as an exact path, under specs/, under the folders above the citing page, and as the name of exactly one page. Where several pages fit, name a folder too.",
		Wrong: wholePage + "\nSee 00_interface.md.\n",
		Right: wholePage + "\nSee rules/00_interface.md.\n"},
	DanglingRef: {Page: true, Summary: "A page names another page that is not in the tree.",
		Wrong: wholePage + "\nSee rules/no_such_page.md.\n",
		Right: wholePage + "\nSee rules/00_interface.md.\n"},
	UnknownPaper: {Page: true, Summary: "A citation resolves against the bibliography page papers.md. The paper is not listed there, or the citation names an equation without a paper and the Source field does not settle which.",
		Wrong: wholePage + "\nThe write is nosuch#3.\n",
		Right: wholePage + "\nThe write is alpha#3.\n"},
	NoEquationNumber: {Page: true, Summary: "paper#? says that the equation exists and that nobody has checked its number. It is a note, so that it is not forgotten.",
		Wrong: wholePage + "\nThe write is alpha#?.\n",
		Right: wholePage + "\nThe write is alpha#3.\n"},
	EquationNotRead: {Page: true, Summary: "papers.md lists which equations of a paper somebody has read. One that is cited and not listed may say something else than the page believes.",
		Wrong: wholePage + "\nThe write is alpha#17.\n",
		Right: wholePage + "\nThe write is alpha#3.\n"},
	NoSuchEquation: {Page: true, Summary: "papers.md lists in its column `equations` which equations an edition of a paper has. One that is cited must be among them.",
		Wrong: wholePage + "\nThe write is alpha#99.\n",
		Right: wholePage + "\nThe write is alpha#3.\n"},
	BackwardRange: {Page: true, Summary: "A range of equations ends where it begins or later.",
		Wrong: wholePage + "\nThe write is alpha#5-3.\n",
		Right: wholePage + "\nThe write is alpha#3-5.\n"},
	NoSuchEdition: {Page: true, Summary: "Editions of a paper may number their equations differently. One that is cited as key@edition has a row in papers.md.",
		Wrong: wholePage + "\nThe write is alpha@v7#3.\n",
		Right: wholePage + "\nThe write is alpha@v1#3.\n"},
	CitedDifferently: {Page: true, Summary: "A citation without a string says that its line is the equation as printed. Two pages cannot give one equation as printed in different forms, and no page can cite what papers.md says no page has.",
		Wrong: wholePage + "\n```hecate\nop Thrice(x ∈ ℝ^{n}) → out = 3 x  @eq alpha#7\n```\n",
		Right: wholePage + "\n```hecate\nop Thrice(x ∈ ℝ^{n}) → out = 3 x  @eq alpha#3\n```\n"},
	BadPaperRow: {Page: true, Summary: "A row of papers.md has a key of small letters, digits, - and _, used once, and ranges such as 1-9, 12, table1.",
		Wrong: "# Papers\n\n| key | title | arXiv | version | read |\n|---|---|---|---|---|\n| Alpha! | On alpha | 9901.00001 | v1 | 9-1 |\n",
		Right: "# Papers\n\n| key | title | arXiv | version | read |\n|---|---|---|---|---|\n| alpha | On alpha | 9901.00001 | v1 | 1-9 |\n"},
}
