package emitcuda_test

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/internal/cudashim"
)

// breaks are mistakes that a printer could make, as changes of the text of a
// recurrence with rows, forward or backward.
var breaks = []struct{ name, old, new string }{
	{"a barrier less", "__syncthreads();\n      for (int item", "for (int item"},
	{"a row less", "kk < rows;", "kk < rows - 1;"},
	{"a block less", "copy < row_blocks;", "copy < row_blocks - 1;"},
	{"a tile cut short", "kk < 16;", "kk < 15;"},
	{"a sum from one", "float dot = 0.0f;", "float dot = 1.0f;"},
	{"a sign", "] - ", "] + "},
	{"a part not cleared", "; at += 32) ", "; at += 33) "},
}

// fitting counts the breaks that change a program's text.
func fitting(p *program) (n int) {
	for _, b := range breaks {
		if strings.Contains(p.fwd.Code+p.bwd.Code, b.old) {
			n++
		}
	}
	return n
}

// TestBroken breaks the text of a rule in every way, the rule that most of them
// fit: the comparison sees each.
func TestBroken(t *testing.T) {
	cudashim.Need(t)
	var p *program
	for _, q := range load(t) {
		if q.bwd != nil && strings.Contains(q.bwd.Code, "rows") && strings.Contains(q.bwd.Code, "_copies") &&
			(p == nil || fitting(q) > fitting(p)) {
			p = q
		}
	}
	var broken []*program
	var all []*emitcuda.Text
	for i, b := range breaks {
		q := *p
		q.fwd, q.bwd = renamed(p.fwd, i, b.old, b.new), renamed(p.bwd, i, b.old, b.new)
		if strings.Count(q.fwd.Code+q.bwd.Code, b.old) == strings.Count(p.fwd.Code+p.bwd.Code, b.old) {
			t.Logf("%s: the text has no %q", b.name, b.old)
			continue
		}
		broken = append(broken, &q)
		all = append(all, q.fwd, q.bwd)
	}
	if len(broken) < 6 {
		t.Fatalf("only %d breaks fit the text", len(broken))
	}
	bin, err := cudashim.Build(cudashim.Plain, sourcesOf(all, 2)...)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range broken {
		x := newTrial(t, q, positive)
		x.oracle()
		program, results := x.program(true)
		out, err := bin.Run(program)
		if err == nil && len(x.compare(out, results)) == 0 {
			t.Errorf("%s is not seen", q.fwd.Name)
		}
	}
}

// renamed is a text with a change, under another name.
func renamed(x *emitcuda.Text, number int, old, new string) *emitcuda.Text {
	y := *x
	suffix := "_broken" + string(rune('a'+number))
	y.Name += suffix
	y.Code = strings.ReplaceAll(x.Code, old, new)
	y.Launches = nil
	for i := len(x.Launches) - 1; i >= 0; i-- {
		l := *x.Launches[i]
		name := strings.Replace(l.Function, x.Name, y.Name, 1)
		y.Code = strings.ReplaceAll(y.Code, " "+l.Function+"(", " "+name+"(")
		l.Function = name
		y.Launches = append([]*emitcuda.Launch{&l}, y.Launches...)
	}
	return &y
}
