package emitasm_test

import (
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/emitasm/neon"
	"github.com/nl-hecate/hecate/gen/plan"
)

// measured are the packages of rules whose recurrences the table of instructions has.
var measured = []string{"deltarule", "gateddelta", "hebbian", "titanslmm", "hgrn2"}

const instructionsTable = "testdata/instructions.txt"

// A pass is the body of a vector loop: what it executes for some entries.
type pass struct{ instructions, loads, entries int }

var (
	passLoop = regexp.MustCompile(`(?ms)^(pass\d+):\n(.*?)^\t(?:JGE|BGE) (pass\d+)$`)
	passStep = regexp.MustCompile(`(?m)^\t(?:SUBQ \$(\d+), DX|SUBS \$(\d+), R3)$`)
	reads    = regexp.MustCompile(`^(FLDPQ|FMOV\w \S*\()|^[^F].*\(.*\).*, [XY]\d+$`)
)

// passes are the vector loops of a function for some rows, in order.
func passes(text string, rows int) (out []pass) {
	for _, m := range passLoop.FindAllStringSubmatch(text, -1) {
		step := strings.Join(passStep.FindStringSubmatch(m[2])[1:], "")
		columns, _ := strconv.Atoi(step)
		p := pass{instructions: 1, entries: rows * columns} // 1 is the jump
		for l := range strings.Lines(m[2]) {
			l = strings.TrimSpace(l)
			name, _, _ := strings.Cut(l, "(")
			n, macro := neon.Count(name)
			if !macro {
				n = 1
			}
			p.instructions += n
			if reads.MatchString(l) && !macro {
				p.loads++
			}
		}
		out = append(out, p)
	}
	return out
}

// function is the text of a function, and the rows that it computes.
func function(text, name string) (string, bool) {
	_, after, ok := strings.Cut(text, "\nTEXT ·"+name+"(SB)")
	before, _, _ := strings.Cut(after, "\nTEXT ")
	return before, ok
}

// TestInstructions holds how many instructions and loads an entry of a recurrence costs,
// with AVX2 and with NEON, to a table. They are counted in the text, in the longest vector
// loop of the function that takes the most rows.
func TestInstructions(t *testing.T) {
	if testing.Short() {
		t.Skip("a long series")
	}
	e := first(t)
	var b strings.Builder
	b.WriteString("Instructions and loads for each entry, in the longest vector loop of a recurrence.\n\n")
	fmt.Fprintf(&b, "%-44s  %13s  %13s\n%-44s  %13s  %13s\n", "", "AVX2", "NEON", "kernel, rows × columns of a pass", "instr.  loads", "instr.  loads")
	found := map[string]bool{}
	for _, f := range e.kernels {
		rule := path.Base(path.Dir(f.Path))
		if !slices.Contains(measured, rule) || path.Base(f.Path) != "step" {
			continue
		}
		for _, k := range f.Kernels {
			if k.Fused == nil {
				continue
			}
			plan.Walk(k.Fused.Body, func(n plan.Node) {
				r, ok := n.(*plan.Region)
				if !ok || r.Row == nil {
					return
				}
				found[rule] = true
				line := fmt.Sprintf("%s %s %s", rule, k.Name, r.Name)
				cells := ""
				for _, level := range []struct{ name, arch string }{{"avx2", "amd64"}, {"neon", "arm64"}} {
					at := slices.IndexFunc(r.Link.Targets, func(x plan.Target) bool { return x.Name == level.name })
					target := r.Link.Targets[at]
					name := strings.ToLower(r.Link.Func)
					text, ok := function(string(e.files["regions/"+name+"_"+level.arch+".s"]), fmt.Sprintf("%s%sx%d", name, target.Suffix, target.Rows[0]))
					all := passes(text, target.Rows[0])
					if !ok || len(all) == 0 {
						t.Fatalf("%s has no vector loop for %s", line, level.name)
					}
					p := slices.MaxFunc(all, func(x, y pass) int { return x.instructions - y.instructions })
					if level.name == "avx2" {
						line += fmt.Sprintf(", %d × %d", target.Rows[0], p.entries/target.Rows[0])
					}
					cells += fmt.Sprintf("  %6.2f  %5.2f", float64(p.instructions)/float64(p.entries), float64(p.loads)/float64(p.entries))
				}
				fmt.Fprintf(&b, "%-44s%s\n", line, cells)
			})
		}
	}
	for _, rule := range measured {
		if !found[rule] {
			t.Errorf("no recurrence of %s", rule)
		}
	}
	want, err := os.ReadFile(instructionsTable)
	if b.String() == string(want) {
		return
	}
	if os.Getenv("UPDATE") != "" {
		if err = os.WriteFile(instructionsTable, []byte(b.String()), 0o644); err == nil {
			return
		}
	}
	t.Errorf("%s is not (%v):\n%s", instructionsTable, err, b.String())
}
