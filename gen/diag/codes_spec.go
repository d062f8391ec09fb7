package diag

// Codes of gen/inspect and of the bibliography: what a page points at.
const (
	// AmbiguousRef occurs when a page is named by words that fit several pages.
	AmbiguousRef Code = 1101
	// DanglingRef occurs when a page is named that does not exist.
	DanglingRef Code = 1102
	// UnknownPaper occurs when a citation names a paper that papers.md does
	// not list, or no paper at all.
	UnknownPaper Code = 1103
	// NoEquationNumber occurs when a citation leaves the number open.
	NoEquationNumber Code = 1104
	// EquationNotRead occurs when papers.md does not say that anyone read the
	// equation that is cited.
	EquationNotRead Code = 1105
	// BadPaperRow occurs when a row of papers.md cannot be understood.
	BadPaperRow Code = 1106
)

var _ = registered(map[Code]Explanation{
	AmbiguousRef: {
		Summary: "A reference is tried as an exact path, under specs/, under the folders above the citing page, and as the name of exactly one page. Where several pages fit, name a folder too.",
		Wrong:   wholePage + "\nSee 00_interface.md.\n",
		Right:   wholePage + "\nSee rules/00_interface.md.\n",
		Page:    true,
	},
	DanglingRef: {
		Summary: "A page names another page that is not in the tree.",
		Wrong:   wholePage + "\nSee rules/no_such_page.md.\n",
		Right:   wholePage + "\nSee rules/00_interface.md.\n",
		Page:    true,
	},
	UnknownPaper: {
		Summary: "A citation resolves against the bibliography page papers.md. The paper is not listed there, or the citation names an equation without a paper and the Source field does not settle which.",
		Wrong:   wholePage + "\nThe write is nosuch#3.\n",
		Right:   wholePage + "\nThe write is alpha#3.\n",
		Page:    true,
	},
	NoEquationNumber: {
		Summary: "paper#? says that the equation exists and that nobody has checked its number. It is a note, so that it is not forgotten.",
		Wrong:   wholePage + "\nThe write is alpha#?.\n",
		Right:   wholePage + "\nThe write is alpha#3.\n",
		Page:    true,
	},
	EquationNotRead: {
		Summary: "papers.md lists which equations of a paper somebody has read. One that is cited and not listed may say something else than the page believes.",
		Wrong:   wholePage + "\nThe write is alpha#99.\n",
		Right:   wholePage + "\nThe write is alpha#3.\n",
		Page:    true,
	},
	BadPaperRow: {
		Summary: "A row of papers.md has a key of small letters, digits, - and _, used once, and ranges such as 1-9, 12, table1.",
		Wrong:   "# Papers\n\n| key | title | arXiv | version | read |\n|---|---|---|---|---|\n| Alpha! | On alpha | 9901.00001 | v1 | 9-1 |\n",
		Right:   "# Papers\n\n| key | title | arXiv | version | read |\n|---|---|---|---|---|\n| alpha | On alpha | 9901.00001 | v1 | 1-9 |\n",
		Page:    true,
	},
})
