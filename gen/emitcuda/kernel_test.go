package emitcuda_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/prove/cost"
	"github.com/nl-hecate/hecate/gen/random"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// relTol bounds the norm of a result's error by the norm of the result, against
// the interpreter in float64: float32 with sums of some hundred terms, forward
// and backward one after the other. Where the interpreter, rounding every
// number to float32, is off by so much that sums must have cancelled, a kernel
// may be off by a few times that. One number more or less lucky than another is
// no few times, so a trial stays below an eighth of what is allowed if it can.
const (
	relTol    = 1e-5
	cancelled = 4
	steady    = 8
)

// astray is how far the interpreter in float32 may be from that in float64 on a random
// page whose kernels are compared: beyond it nothing is known about their numbers.
const astray = 1e-3

// batches and tokens of the trials.
const trialLanes = 2

var trialTokens = []int{1, 7, 33}

// Random pages: how many, and the seed of the first one. A C++ compiler takes a second
// for each.
var (
	randomPages = flag.Int("pages", 48, "how many random pages")
	randomSeed  = flag.Uint64("seed", 1, "seed of the first one")
)

// positive is the length at which operations get positive numbers: what some
// expect, and others differ at.
const positive = 7

func TestKernels(t *testing.T) {
	cudashim.Need(t)
	runAll(t, load(t), trialTokens...)
}

// TestBFloat16 runs kernels with operands in bfloat16: those of all units but of memory rules, and of three of
// the fronts that these share.
func TestBFloat16(t *testing.T) {
	cudashim.Need(t)
	var ps []*program
	fronts := 0
	for _, p := range load(t) {
		if !slices.ContainsFunc(p.fwd.Kernel.Work, func(b *plan.Buffer) bool { return b.Role == plan.Operand }) {
			continue
		}
		if strings.HasSuffix(p.name, "_front") {
			if fronts++; fronts > 3 {
				continue
			}
		}
		p.narrow = 1
		p.lower(t)
		ps = append(ps, p)
	}
	if len(ps) < 20 {
		t.Fatalf("%d programs have operands", len(ps))
	}
	runAll(t, ps, trialTokens[:2]...)
}

// TestExamples holds units of the page on the language to the interpreter: those
// with a form that no emitted unit has, so rows that see each other, and searches.
func TestExamples(t *testing.T) {
	cudashim.Need(t)
	runAll(t, oddExamples(t), 1, positive)
}

// TestFeatureMaps runs rules over each feature map of the front.
func TestFeatureMaps(t *testing.T) {
	cudashim.Need(t)
	runAll(t, ofPage(t, "../testdata/maps/maps.md"), trialTokens...)
}

// TestHeads runs the kernels of rules in heads.
func TestHeads(t *testing.T) {
	cudashim.Need(t)
	runAll(t, ofPage(t, "../testdata/heads/inheads.md"), trialTokens[:2]...)
}

// TestRandomPages runs the kernels of random pages, as many at once as one program
// holds. The first that is wrong is made smaller.
func TestRandomPages(t *testing.T) {
	cudashim.Need(t)
	const atOnce = 250
	for from := 0; from < *randomPages; from += atOnce {
		var pages []*random.Page
		for i := from; i < min(from+atOnce, *randomPages); i++ {
			pages = append(pages, random.New(*randomSeed+uint64(i)))
		}
		tokens, ps := []int{1, positive}, ofRandomPages(t, pages...)
		if t.Run(fmt.Sprint("pages", from), func(t *testing.T) { runAll(t, ps, tokens...) }) {
			continue
		}
		i := slices.IndexFunc(ps, func(p *program) bool { return p.failed })
		t.Logf("smaller:\n%s", shrink(t, pageOf(pages, ps[i]), tokens).Text())
	}
}

// TestMended runs the kernels of pages on which a target was wrong once.
func TestMended(t *testing.T) {
	cudashim.Need(t)
	runAll(t, ofMended(t), 1, positive)
}

// oddExamples are the shortest of the programs that have such a form.
func oddExamples(t *testing.T) []*program {
	t.Helper()
	library := map[string]bool{} // of which the manual shows some rules
	for _, p := range load(t) {
		library[p.fwd.Name] = true
	}
	ps := slices.DeleteFunc(examples(t), func(p *program) bool { return !p.odd() || library[p.fwd.Name] })
	if len(ps) < exampleCount {
		t.Fatalf("only %d programs have such a form", len(ps))
	}
	slices.SortStableFunc(ps, func(p, q *program) int { return cmp.Compare(len(p.fwd.Code), len(q.fwd.Code)) })
	return ps[:exampleCount]
}

// exampleCount is the number of them that are run, shortest first: a C++
// compiler takes seconds for the longest.
const exampleCount = 10

// TestLarge runs the rules at sizes of which neither the rows nor what they add
// fit into shared memory: they are in global memory then. Those whose rows are
// those of another size than d_k fit, and are not run; nor are those whose work is cubic in d_k,
// for which the interpreter takes minutes.
func TestLarge(t *testing.T) {
	cudashim.Need(t)
	var ps []*program
	for _, p := range load(t) {
		if p.unit.Kind != abi.RuleUnit || p.fwd.Kernel.Segment == "" {
			continue
		}
		p.other = map[string]int{"d_k": 601, "d_v": 33, "C": 2}
		p.lower(t)
		switch most := p.shared(); {
		case most > 96<<10:
			t.Errorf("%s: %d bytes of shared memory, there are 96 KB", p.name, most)
		case most >= 64<<10 && p.work() < mostWork:
			ps = append(ps, p)
		}
	}
	if len(ps) < largeCount {
		t.Fatalf("only %d rules fill shared memory", len(ps))
	}
	runAll(t, ps, 3)
}

// largeCount is how many of the rules have rows as long as d_k at least.
const largeCount = 12

// mostWork bounds the multiply-adds of a token.
const mostWork = 1 << 26

// work counts the multiply-adds of a token, or 0 without a recurrence.
func (p *program) work() int {
	f, _ := p.f.Clone()
	c, _ := cost.OfToken(f)
	n, err := c.Adds.Eval(p.sizes(c.Adds.Symbols(), 1, 1))
	if err != nil {
		panic(err)
	}
	return n
}

// shared is the most shared memory that a kernel of a program takes, in bytes.
func (p *program) shared() int {
	most := 0
	for _, x := range texts([]*program{p}) {
		for _, l := range x.Launches {
			bytes, _ := l.Shared(x.Sizes(x.Defaults))
			most = max(most, l.Static+bytes)
		}
	}
	return most
}

// odd reports whether a program's kernels have a search, or a recurrence in
// phases, or keep a scalar from launch to launch.
func (p *program) odd() bool {
	for _, x := range texts([]*program{p}) {
		if len(x.Kernel.Roots()) > 0 || strings.Contains(x.Code, "in phases") || strings.Contains(x.Code, " kept[") {
			return true
		}
	}
	return false
}

// runAll runs programs and reports what is wrong with each.
func runAll(t *testing.T, ps []*program, tokens ...int) {
	t.Helper()
	bin := build(t, ps)
	for _, p := range ps {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for _, err := range p.wrong(t, bin, tokens) {
				t.Error(err)
			}
			p.failed = t.Failed()
		})
	}
}

func build(t *testing.T, ps []*program) *cudashim.Binary {
	t.Helper()
	bin, err := cudashim.Build(cudashim.Plain, sourcesOf(texts(ps), 2)...)
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// wrong lists what is wrong with the kernels of a program.
func (p *program) wrong(t *testing.T, bin *cudashim.Binary, tokens []int) []error {
	var errs []error
	for _, tokens := range tokens {
		x := newTrial(t, p, tokens)
		if x.empty {
			continue
		}
		x.oracle()
		errs = slices.Concat(errs, x.run(bin, true), x.run(bin, false))
	}
	return errs
}

// shrink makes a random page smaller while its kernels are wrong.
func shrink(t *testing.T, page *random.Page, tokens []int) *random.Page {
	const atOnce = 24
	for {
		var next []*random.Page
		for i, p := range page.Shrunk() {
			next = append(next, p.Renamed(fmt.Sprintf("Small%d", i)))
		}
		found := false
		for part := range slices.Chunk(next, atOnce) {
			ps := ofRandomPages(t, part...)
			bin := build(t, ps)
			i := slices.IndexFunc(ps, func(p *program) bool { return len(p.wrong(t, bin, tokens)) > 0 })
			if found = i >= 0; found {
				page = pageOf(part, ps[i])
				break
			}
		}
		if !found {
			return page
		}
	}
}

// pageOf is the page of a program.
func pageOf(pages []*random.Page, p *program) *random.Page {
	return pages[slices.IndexFunc(pages, func(q *random.Page) bool { return q.Unit == p.unit.Name })]
}
