package gen

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nl-hecate/hecate/gen/derive"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/markdown"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/notation/parser"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/units"
)

// TestMutants takes our own pages, breaks one of them at random and sends the
// tree through everything that check does, and through the differentiation of
// what still types. Whatever a page says, the compiler must not fail on it.
//
// HECATE_MUTATE_SECONDS and HECATE_MUTATE_SEED ask for more than the short run
// that every test includes.
func TestMutants(t *testing.T) {
	s, ds := Load("../specs")
	if ds.HasErrors() {
		t.Fatal(ds.Error())
	}
	seconds := envInt("HECATE_MUTATE_SECONDS", 2)
	seed := uint64(envInt("HECATE_MUTATE_SEED", 1))
	r := rand.New(rand.NewPCG(seed, seed))
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	n, clean, failures := 0, 0, map[string]bool{}
	for time.Now().Before(end) && len(failures) < 10 {
		i := r.IntN(len(s.Pages))
		if !s.Pages[i].Ours() {
			continue
		}
		m := mutant(r, s, i)
		n++
		ok, why := survives(s, i, m)
		if ok {
			clean++
		}
		if why != "" && !failures[first(why)] {
			failures[first(why)] = true
			t.Errorf("seed %d, mutant %d of %s:\n%s\n%s", seed, n, s.Pages[i].File.Path, changed(s.Pages[i].File.Text, m), why)
		}
	}
	t.Logf("%d mutants, %d of them without an error", n, clean)
}

// TestHostile holds the compiler to the same on pages that were written to
// provoke it; in the file, \n divides the lines of one page.
func TestHostile(t *testing.T) {
	text, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := LoadFiles(source.NewFile("page.md", pageHead+"op Twice(x ∈ ℝ^{n}) → out = x + x\n```\n"))
	for line := range strings.Lines(string(text)) {
		block := strings.ReplaceAll(strings.TrimSuffix(line, "\n"), `\n`, "\n")
		if _, why := survives(s, 0, pageHead+block+"\n```\n"); why != "" {
			t.Errorf("%s\n%s", block, why)
		}
	}
}

func envInt(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

// first is where a failure happened, so that one bug is reported once.
func first(why string) string {
	for _, l := range strings.Split(why, "\n") {
		if strings.Contains(l, "/gen/") && strings.Contains(l, ".go:") {
			return strings.TrimSpace(l)
		}
	}
	return why
}

// mutant breaks the blocks of a page: bytes, tokens, lines.
func mutant(r *rand.Rand, s *Source, i int) string {
	text := s.Pages[i].File.Text
	for range 1 + r.IntN(3) {
		start := strings.Index(text, "```hecate")
		if start < 0 {
			return text
		}
		start += len("```hecate\n")
		end := strings.LastIndex(text, "```")
		if end <= start {
			return text
		}
		text = text[:start] + edit(r, text[start:end]) + text[end:]
	}
	return text
}

// pieces are what a mutation puts in.
var pieces = strings.Fields("M k_t v_t x_t t t−1 _{t−1} _t ᵀ ² ‖ ( ) [ ] { } , ; · ⊙ + − / Σ_{i∈n} ∇_M ∈ ℝ^{n} ℝ^{d×d} = 0 1 2 0.5 " +
	"window(t,w) softmax_{j∈n}(x[j]) mean_{i∈n}(x[i]) T L d d_k n m i j out̄ x̄ with if otherwise { x if x > 0 ; 0 otherwise } [a;b] ⟨A, B⟩ " +
	"stop(x) exp log sqrt max min case option state gate outer input dims claim W W_{t−1} J(W, e) ℓ(y, v) ∪ ∞ ½ → ~ within nodecay y_t = M_t q_t")

func edit(r *rand.Rand, block string) string {
	lines := strings.SplitAfter(block, "\n")
	k := r.IntN(len(lines))
	words := strings.Fields(lines[k])
	if len(words) == 0 {
		return block
	}
	a, b := r.IntN(len(words)), r.IntN(len(words))
	switch r.IntN(9) {
	case 0:
		words[a], words[b] = words[b], words[a]
	case 1:
		words[a] = pieces[r.IntN(len(pieces))]
	case 2:
		words = append(words[:a], append([]string{pieces[r.IntN(len(pieces))]}, words[a:]...)...)
	case 3:
		words = append(words[:a], words[a+1:]...)
	case 4: // one rune goes, or is another one's
		runes := []rune(lines[k])
		c := r.IntN(len(runes))
		if r.IntN(2) == 0 {
			runes = append(runes[:c], runes[c+1:]...)
		} else {
			runes[c] = runes[r.IntN(len(runes))]
		}
		lines[k] = string(runes)
		return strings.Join(lines, "")
	case 5: // one byte
		raw := []byte(lines[k])
		raw[r.IntN(len(raw))] = byte(r.IntN(256))
		lines[k] = string(raw)
		return strings.Join(lines, "")
	case 6:
		lines[k] = ""
		return strings.Join(lines, "")
	case 7:
		l := r.IntN(len(lines))
		lines[k], lines[l] = lines[l], lines[k]
		return strings.Join(lines, "")
	case 8:
		other := strings.Fields(lines[r.IntN(len(lines))])
		if len(other) > 0 {
			words[a] = other[r.IntN(len(other))]
		}
	}
	indent := lines[k][:len(lines[k])-len(strings.TrimLeft(lines[k], " "))]
	lines[k] = indent + strings.Join(words, " ") + "\n"
	return strings.Join(lines, "")
}

// survives reports whether a tree with a broken page compiles, and what the
// compiler failed on, if it did.
func survives(s *Source, i int, text string) (ok bool, why string) {
	at := "reading"
	defer func() {
		if r := recover(); r != nil {
			ok, why = false, fmt.Sprintf("%s: %v\n%s", at, r, compilerStack())
		}
	}()
	m, ds := withPage(s, i, text)
	ok = !ds.HasErrors()
	ds.Append(m.References("."))
	for _, u := range touched(m, m.Pages[i].File) {
		at = u.Name.Text
		c := newCompiler(m, u, Config{})
		if !c.run(codeStage, "simplified") {
			ok = false
			continue
		}
		if u.Kind == notation.RuleUnit || u.Kind == notation.OpUnit {
			if d := derive.Of(c.blk, &ds); d != nil {
				_ = d.Text(notation.Unicode)
			}
		}
	}
	return ok, ""
}

// withPage is the source with one page read again.
func withPage(s *Source, i int, text string) (*Source, diag.List) {
	p, ds := markdown.Parse(source.NewFile(s.Pages[i].File.Path, text))
	m := &Source{Pages: slices.Clone(s.Pages), Files: slices.Clone(s.Files)}
	m.Pages[i] = p
	blocks := inputs(p)
	known := parser.Known(blocks)
	for _, u := range s.Tree.Order { // parts and functions of the other pages
		known[u.Name.Text] = true
		for _, q := range u.Params {
			known[q.Name.Text] = known[q.Name.Text] || q.Type != nil && q.Type.Kind == notation.PageType
		}
	}
	for i := range blocks {
		blocks[i].Known = known
	}
	f, nd := parser.Parse(p.File, blocks)
	ds.Append(nd)
	m.Files[i] = f
	var emitted []*notation.File
	for k, q := range m.Pages {
		if q.Emits() {
			emitted = append(emitted, m.Files[k])
		}
	}
	tree, td := units.Collect(emitted)
	ds.Append(td)
	m.Tree = tree
	return m, ds
}

// touched are the units that a changed page may change: its own, or, where it
// has none of its own, the rules.
func touched(s *Source, f *source.File) []*notation.Unit {
	var own, users []*notation.Unit
	for _, u := range s.Tree.Order {
		switch {
		case !Standalone(u):
		case u.Span.File == f:
			own = append(own, u)
		case u.Kind == notation.RuleUnit:
			users = append(users, u)
		}
	}
	if len(own) > 0 {
		return own
	}
	return users
}

// compilerStack is the part of the stack that is in the compiler.
func compilerStack() string {
	var out []string
	for _, l := range strings.Split(string(debug.Stack()), "\n") {
		if strings.Contains(l, "/gen/") && strings.Contains(l, ".go:") && len(out) < 8 {
			out = append(out, "\t"+strings.TrimSpace(strings.Split(l, " +0x")[0]))
		}
	}
	return strings.Join(out, "\n")
}

// changed shows the lines that a mutation changed.
func changed(old, now string) string {
	a, b := strings.Split(old, "\n"), strings.Split(now, "\n")
	var out []string
	for i, l := range b {
		if i >= len(a) || a[i] != l {
			was := ""
			if i < len(a) {
				was = a[i]
			}
			out = append(out, fmt.Sprintf("\t%d: %s\n\t   was %s", i+1, l, was))
			if len(out) == 3 {
				break
			}
		}
	}
	return strings.Join(out, "\n")
}
