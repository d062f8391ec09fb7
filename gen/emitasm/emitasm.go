// Package emitasm prints the regions of kernels in fused arithmetic as Go
// assembly: for amd64 with AVX2 and with AVX-512, and for arm64 with NEON.
//
// A region passes through:
//
//	pipeline, jam  software pipelining of a loop over time, unroll-and-jam of a nest
//	analyse        streams over buffers, and what differs between rows and columns
//	nodes          the outer loops, with counters and offsets in the frame
//	vectorLoop     innermost loops by strip mining: a body for a whole pass, one for the remainder
//	registerSums   nests that add to the same entries, which stay in registers
//	scope          statements → SSA, once for each group of rows and columns
//	allocate       linear register allocation with spills
//	machine        the instructions of an architecture: amd64, arm64
//	files          regions with the same text share their functions, named after its hash
//
// No size is a constant of the text: strides and bounds come with the call. The order of
// every sum is the plan's, so all instruction sets and the Go twin have the same bits.
package emitasm

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// A form is how a function runs rows: how many at once, how many accumulators of sums
// over rows, by how many rows a nest is unrolled, and whether a loop over time that could be
// pipelined is not (inTurn): the state is then loaded twice for a token, but fewer values are
// live at once, so that fewer are reloaded where registers are few.
type form struct {
	rows, accumulators, unroll int
	inTurn                     bool
}

// forms are those to try: one of each list. Across columns a few rows share what
// they load; across rows they fill vectors.
func forms(r *plan.Region, t *target) [][]form {
	switch {
	case r.Row == nil:
		return [][]form{{{1, 1, 4, false}, {1, 1, 2, false}, {1, 1, 1, false}}}
	case r.Across == plan.Columns && t.wide():
		return [][]form{{{8, 2, 1, false}, {8, 1, 1, false}}, {{4, 4, 1, false}, {4, 2, 1, false}, {4, 1, 1, false}}, {{1, 1, 1, false}}}
	case r.Across == plan.Columns:
		return [][]form{{{2, 1, 1, false}, {2, 1, 1, true}}, {{1, 1, 1, false}, {1, 1, 1, true}}}
	case t.wide():
		return [][]form{{{64, 1, 1, false}}, {{32, 1, 1, false}}, {{16, 1, 1, false}}}
	}
	return [][]form{{{16, 1, 1, false}}, {{8, 1, 1, false}}}
}

// targets are all, the best of an architecture first.
var targets = []*target{avx512, avx2, advancedSIMD}

// compile prints the functions of regions that run on the same rows, and links
// the regions to them. It is an error when one does not fit the registers.
func compile(rs []*plan.Region) ([]*function, error) {
	var out []*function
	args := make([]*Args, len(rs))
	for i, r := range rs {
		args[i] = newArgs(r)
	}
	for _, t := range targets {
		var taken []int
		var why string
		for _, forms := range forms(rs[0], t) {
			fs, failed := cheapest(rs, args, t, forms)
			if fs == nil {
				why = failed
				continue
			}
			out, taken = append(out, fs...), append(taken, fs[0].rows)
		}
		if len(taken) == 0 || rs[0].Across == plan.Columns && !slices.Contains(taken, 1) {
			return nil, fmt.Errorf("%s: %s", t.level, why)
		}
		for _, a := range args {
			a.Targets = append(a.Targets, plan.Target{Name: t.level, Suffix: t.suffix, Width: t.width, Rows: taken})
		}
	}
	for i, r := range rs {
		r.Link = args[i].Link
	}
	return out, nil
}

// cheapest prints the functions of regions in the cheapest form that fits the
// registers; where none does it says why.
func cheapest(rs []*plan.Region, args []*Args, t *target, forms []form) (best []*function, why string) {
	for _, form := range forms {
		var fs []*function
		for i, r := range rs {
			f := newFunction(t, r, args[i], form)
			if f.compile(); f.failed != "" {
				why = f.failed
				break
			}
			fs = append(fs, f)
		}
		if len(fs) == len(rs) && (best == nil || cheaper(fs, best)) {
			best = fs
		}
		if best != nil && form.unroll > best[0].unroll {
			break // there is nothing to jam
		}
	}
	return best, why
}

// cheaper reports whether functions load less for each row and group of columns
// than others, which are better where they load about as much.
func cheaper(fs, than []*function) bool {
	load := func(fs []*function) float64 {
		sum := 0.0
		for _, f := range fs {
			sum += f.loads
		}
		return sum
	}
	return load(fs) < 0.95*load(than)
}

func newFunction(t *target, r *plan.Region, args *Args, form form) *function {
	suffix := t.suffix
	var turned *pipelinedLoop
	if !form.inTurn {
		r, turned = pipeline(r)
	}
	r, jams := jam(r, form.unroll)
	if len(jams) == 0 {
		form.unroll = 1
	}
	if r.Row != nil {
		suffix += "x" + strconv.Itoa(form.rows)
	}
	text := &code{}
	return &function{code: text, m: t.machine(text), t: t, r: r, pipelined: turned, jammed: jams, unroll: form.unroll, unrolled: 1, args: args, rows: form.rows, accumulators: form.accumulators, suffix: suffix, cache: newRegisterCache(t.regs), scalar: map[*plan.Local]slot{}, fixed: map[*plan.Local]home{},
		counter: map[*plan.Var]string{}, units: map[string]string{}, streams: map[string]*stream{}, depends: map[*plan.Local]depends{}}
}

// constantUse is an instruction with a number of the table.
var constantUse = regexp.MustCompile(`(?m)^\t(\S+).*\bk([0-9a-f]{8})<>\(SB\)`)

// constants prints the table of numbers that a file's text mentions.
func constants(text string) string {
	var names, vectors []string
	for _, m := range constantUse.FindAllStringSubmatch(text, -1) {
		names = append(names, m[2])
		if m[1] != "VBROADCASTSS" && m[1] != "VMOVSS" && !strings.HasSuffix(m[1], ".BCST") {
			vectors = append(vectors, m[2])
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var b strings.Builder
	b.WriteString("\n")
	for _, n := range names {
		bits, err := strconv.ParseUint(n, 16, 32)
		if err != nil {
			panic("emitasm: BUG: constant " + n)
		}
		value, size, parts, word := math.Float32frombits(uint32(bits)), 4, 1, n
		if slices.Contains(vectors, n) {
			size, parts, word = 8, 4, n+n
		}
		for i := range parts {
			fmt.Fprintf(&b, "DATA k%s<>+%d(SB)/%d, $0x%s", n, size*i, size, word)
			if i == 0 {
				fmt.Fprintf(&b, " // %v", value)
			}
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "GLOBL k%s<>(SB), RODATA|NOPTR, $%d\n", n, size*parts)
	}
	return b.String()
}
