package markdown

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/spec"
)

type tokenKind int

const (
	_            tokenKind = iota
	nameToken              // Name
	arxivToken             // 2501.00663
	genericToken           // Paper, as in `Paper Eq 3`
	keyToken               // key#34, key_equations/eq-034-write
	sectionToken           // §3.1
	locatorToken           // Eq 13
	itemToken              // Table 1
)

type token struct {
	kind       tokenKind
	text       string // of a paper: what it is called; of a section: its number
	known      bool   // the bibliography has it
	start, end int
	citation   spec.Citation // of a key and a locator: Eq, EqEnd and perhaps Paper
}

const (
	eqNumber  = `(?:[A-Z]\.?)?\d+(?:\.\d+)*[a-z]?`
	eqRange   = `\(?(` + eqNumber + `)\)?(?:\s*(?:[-–—]|to)\s*\(?(` + eqNumber + `)\)?)?`
	shortItem = `(?:table|tab|def|prop|alg|thm|lemma|cor|fig)-?\d+`
)

// A tokenReader reads the tokens that begin with certain words. Looking at the
// word first keeps the expressions away from the prose between citations.
type tokenReader struct {
	begins func(word string, next byte) bool
	re     *regexp.Regexp // anchored
	read   func(c *citer, l string, t token, m []string) []token
}

var tokenReaders = []tokenReader{
	{func(w string, next byte) bool { return (next == '#' || next == '@') && 'a' <= w[0] && w[0] <= 'z' },
		regexp.MustCompile(`^([a-z][a-z0-9_-]*(?:@[a-z0-9._-]+)?)#(` + shortItem + `|\?|\d+(?:\.\d+)*[a-z]?)(?:[-–](\d+[a-z]?))?`), readKey},
	{func(w string, next byte) bool { return next == '/' && strings.Contains(w, "_") },
		regexp.MustCompile(`^([a-z][a-z0-9-]*)_(equations|definitions|propositions|tables|algorithms)/[a-z]+-0*(\d+[a-z]?)(?:-[a-z0-9-]*[a-z0-9])?`), readGraphKey},
	{func(w string, _ byte) bool { return strings.HasPrefix(w, "eq-") },
		regexp.MustCompile(`^eq-0*(\d+)(?:-[a-z0-9-]*[a-z0-9])?`), readSingular},
	{func(w string, _ byte) bool { return isEq(w, "Eqs", "Equations") },
		regexp.MustCompile(`^(?:[Ee]quations|[Ee]qs\.?)\s*(` + eqRange + `(?:\s*(?:,\s*and|,|and|&)\s+` + eqRange + `)*)`), readPlural},
	{func(w string, _ byte) bool { return isEq(w, "Eq", "Equation") },
		regexp.MustCompile(`^(?:[Ee]quation|[Ee]q\.?)\s*` + eqRange), readSingular},
	{func(w string, _ byte) bool { return w == "§" },
		regexp.MustCompile(`^§§?\s*([A-Z]?\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)`), readSection},
	{func(w string, _ byte) bool { return w == "Section" || w == "Sec" || w == "Appendix" || w == "App" },
		regexp.MustCompile(`^(?:Section|Sec\.|Appendix|App\.)\s+(\d+(?:\.\d+)*|[A-Z](?:\.\d+)*)\b`), readSection},
	{func(w string, _ byte) bool { return itemKeys[w] != "" },
		regexp.MustCompile(`^([A-Z][a-z]+)\s+(\d+(?:\.\d+)*)`), readNumbered},
	{func(w string, _ byte) bool { return '0' <= w[0] && w[0] <= '9' || strings.EqualFold(w, "arxiv") },
		regexp.MustCompile(`^(?:[aA][rR][xX][iI][vV]:?\s*)?(\d{2}(?:0[1-9]|1[0-2])\.\d{5})(?:v\d+)?\b`), readArXiv},
}

// isEq compares a word with names that may also begin with a small letter, and
// that may have a number right after it: Eq13.
func isEq(w string, names ...string) bool {
	w = strings.TrimRight(w, "0123456789-")
	return slices.ContainsFunc(names, func(n string) bool { return w == n || w == strings.ToLower(n) })
}

var (
	ofPaper  = regexp.MustCompile(`^\s*(?:(?:of|in|from)\s+(?:the\s+)?|\((?:the\s+)?)`)
	oneRange = regexp.MustCompile(eqRange)
	itemKeys = map[string]string{"Table": "table", "Definition": "def", "Proposition": "prop", "Theorem": "thm",
		"Lemma": "lemma", "Corollary": "cor", "Algorithm": "alg"}
	graphKeys = map[string]string{"equations": "", "definitions": "def", "propositions": "prop", "tables": "table", "algorithms": "alg"}
	// noKeys are words before # that mean something else.
	noKeys = []string{"issue", "pr", "pull", "bug", "task", "line", "step", "figure", "comment"}
)

// longestToken bounds how far an expression looks: a line may be of any length.
const longestToken = 512

// tokens cuts a line into what matters for citations.
func (c *citer) tokens(l string) []token {
	out := []token{}
	for at := 0; at < len(l); {
		word := wordAt(l, at)
		if word == "" {
			at++
			continue
		}
		ts := c.wordTokens(l, at, word)
		out = append(out, ts...)
		at += len(word)
		if n := len(ts); n > 0 {
			at = max(at, ts[n-1].end)
		}
	}
	return out
}

// wordAt returns the word that begins at the offset: letters, digits, _ and -,
// or a section mark.
func wordAt(l string, at int) string {
	if strings.HasPrefix(l[at:], "§") {
		return "§"
	}
	end := at
	for end < len(l) && (isWordByte(l[end]) || l[end] == '-') {
		end++
	}
	return l[at:end]
}

func (c *citer) wordTokens(l string, at int, word string) []token {
	next := byte(' ')
	if end := at + len(word); end < len(l) {
		next = l[end]
	}
	for _, r := range tokenReaders {
		if !r.begins(word, next) {
			continue
		}
		if m := r.re.FindStringSubmatch(l[at:min(len(l), at+longestToken)]); m != nil {
			return r.read(c, l, token{start: at, end: at + len(m[0])}, m)
		}
	}
	if c.keys && c.bib.ByKey(word) != nil {
		return []token{{kind: nameToken, text: word, known: true, start: at, end: at + len(word)}}
	}
	if 'A' <= word[0] && word[0] <= 'Z' {
		if i := strings.IndexAny(word, "-_"); i >= 0 {
			word = word[:i]
		}
		return c.word(l, token{start: at, end: at + len(word)})
	}
	return nil
}

func readKey(_ *citer, l string, t token, m []string) []token {
	if t.start > 0 && strings.IndexByte("./", l[t.start-1]) >= 0 || slices.Contains(noKeys, m[1]) {
		return nil
	}
	t.kind = keyToken
	t.citation = spec.Citation{Paper: m[1], Eq: m[2], EqEnd: m[3]}
	if before := strings.TrimRight(l[:t.start], " "); strings.HasSuffix(before, "@eq") {
		t.start = len(before) - len("@eq")
	}
	return []token{t}
}

func readGraphKey(_ *citer, _ string, t token, m []string) []token {
	t.kind = keyToken
	t.citation = spec.Citation{Paper: m[1], Eq: graphKeys[m[2]] + m[3]}
	return []token{t}
}

func readSingular(_ *citer, _ string, t token, m []string) []token {
	t.kind = locatorToken
	t.citation = spec.Citation{Eq: m[1]}
	if len(m) > 2 {
		t.citation.EqEnd = m[2]
	}
	return []token{t}
}

func readPlural(_ *citer, l string, t token, m []string) []token {
	return plural(l, t.start, t.end, t.end-len(m[1]))
}

func readSection(_ *citer, _ string, t token, m []string) []token {
	t.kind, t.text = sectionToken, m[1]
	return []token{t}
}

func readNumbered(_ *citer, _ string, t token, m []string) []token {
	t.kind = itemToken
	t.citation = spec.Citation{Eq: itemKeys[m[1]] + m[2]}
	return []token{t}
}

func readArXiv(c *citer, l string, t token, m []string) []token {
	if t.start > 0 && l[t.start-1] == '.' {
		return nil
	}
	t.kind, t.text, t.known = arxivToken, m[1], c.bib.ByArXiv(m[1]) != nil
	return []token{t}
}

// plural turns `Eqs 8, 10-12 and 15` into three locators.
func plural(l string, start, end, list int) []token {
	var out []token
	for _, m := range oneRange.FindAllStringSubmatchIndex(l[list:end], -1) {
		t := token{kind: locatorToken, start: list + m[0], end: list + m[1]}
		t.citation.Eq = l[list+m[2] : list+m[3]]
		if m[4] >= 0 {
			t.citation.EqEnd = l[list+m[4] : list+m[5]]
		}
		out = append(out, t)
	}
	if len(out) > 0 {
		out[0].start = start
	}
	return out
}

// word reads a capitalised word as a paper: one that the bibliography knows,
// the word Paper, or one right before an equation or an arXiv id
// and is not just the first word of a sentence.
func (c *citer) word(l string, t token) []token {
	if _, end, ok := c.names.at(l, t.start); ok {
		t.kind, t.known, t.end = nameToken, true, end
		t.text = l[t.start:end]
		return []token{t}
	}
	word, rest := l[t.start:t.end], l[t.end:]
	if word == "Paper" {
		t.kind = genericToken
		return []token{t}
	}
	named := beforePaper.MatchString(rest) ||
		beforeEq.MatchString(rest) && properName(l, t.start, word) ||
		strings.HasPrefix(rest, " §") && twoCapitals(word)
	if !named {
		return nil
	}
	t.kind, t.text = nameToken, word
	return []token{t}
}

var (
	beforePaper = regexp.MustCompile(`^(?: paper)?,? \(?(?:[aA][rR][xX][iI][vV]:? ?)?\d{4}\.\d{5}`)
	beforeEq    = regexp.MustCompile(`^(?: paper)?,? (?:§§?\s*[\d.]+,? |Section [\d.]+,? )?\(?[Ee]q(?:s|uations?)?\b`)
	plainWords  = []string{"The", "See", "From", "In", "By", "Per", "Both", "And", "Or", "Of", "Using", "Via", "Source", "Note", "Cf",
		"This", "That", "With", "For", "To", "As", "Is", "Are", "It", "Combining", "Implements", "Follows", "Also", "Then", "Where", "When"}
)

// properName reports whether a capitalised word looks like the name of a
// paper: not a common word, and not alone at the start of a sentence unless
// it has a second capital.
func properName(l string, start int, word string) bool {
	if slices.Contains(plainWords, word) {
		return false
	}
	if twoCapitals(word) {
		return true
	}
	before := strings.TrimRight(l[:start], " \t-/>*(")
	return before != "" && strings.IndexByte(".:;!?", before[len(before)-1]) < 0 || strings.HasSuffix(before, ":")
}

func twoCapitals(word string) bool {
	return strings.IndexFunc(word[1:], func(r rune) bool { return 'A' <= r && r <= 'Z' }) >= 0
}

// backwards reports whether a range ends before it begins.
func backwards(eq, eqEnd string) bool {
	from, err := strconv.Atoi(eq)
	to, err2 := strconv.Atoi(eqEnd)
	return err == nil && err2 == nil && to < from
}

// covers reports whether every equation of a range was read.
func covers(p *spec.Paper, eq, eqEnd string) bool {
	if !p.Covers(eq) || eqEnd != "" && !p.Covers(eqEnd) {
		return false
	}
	from, err := strconv.Atoi(eq)
	to, err2 := strconv.Atoi(eqEnd)
	if err != nil || err2 != nil {
		return true
	}
	const most = 1000
	for i := from; i <= min(to, from+most); i++ {
		if !p.Covers(strconv.Itoa(i)) {
			return false
		}
	}
	return true
}
