package drive

import (
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/command/internal/report"
)

// Account lists the resources of a build, as comments of a configuration: parameters
// by block and level, operations per token, memory. arena is the measured bytes of a
// chunk.
//
// Counts come from the table of parameters. Estimates are marked: a level of period C
// is updated once in C calls; a forward is two operations for each entry of a matrix
// and four for each number of context memory, a backward twice that. A lookup table
// counts as a matrix, so the estimate is too high rather than too low.
func Account(info engine.Info, c *config.Config, arena int) string {
	var b strings.Builder
	say := func(format string, args ...any) {
		b.WriteString(strings.TrimRight("# "+fmt.Sprintf(format, args...), " ") + "\n")
	}
	say("%s (%s), %s, update %s", info.Model, info.Sizes, info.ArithmeticText(), info.MovedBy)
	say("text: %s, %s %ss, the last %s held out", info.Text, count(info.TextBytes), info.Unit, count(info.HeldOut))
	say("levels: %d, with periods %v in %s; gradients are buffered by %s", len(info.Periods), info.Periods, info.Counts, info.Buffer)
	say("")
	say("%-28s %5s %7s %12s %12s", "parameters of block", "level", "period", "numbers", "in matrices")
	all, average, matrices, slots := 0, 0.0, 0, 0
	for _, g := range blocks(info.Params) {
		period := 1
		if g.level < len(info.Periods) {
			period = info.Periods[g.level]
			if info.Counts == "tokens" { // in calls
				period = max(1, period/max(info.Chunk, 1))
			}
		}
		say("%-28s %5d %7d %12s %12s", g.name, g.level, period, count(g.all), count(g.matrices))
		all, matrices, slots = all+g.all, matrices+g.matrices, slots+g.slots
		average += float64(g.all) / float64(period)
	}
	say("total %s, active on average %s, at most %s", count(all), count(int(average)), count(all))
	forward := 2*matrices + 4*info.States
	say("")
	say("operations per token: %s in a forward pass, %s forward and backward (estimated: %s)", count(forward), count(3*forward),
		"2 for each entry of a matrix, 4 for each number of context memory; 3 times that with the backward pass")
	say("tokens per update: %s; %s", count(info.PerStep()), report.Plan(&info, c.Build.TimeLimit))
	if w := report.Unread(&info); w != "" {
		say("warning: %s", w)
	}
	memory(say, info, all, slots, arena, c)
	return b.String()
}

// memory lists the bytes in memory and in a checkpoint.
func memory(say func(string, ...any), info engine.Info, all, slots, arena int, c *config.Config) {
	const number = 4 // bytes of a float32
	rows := []struct {
		what  string
		bytes int
		how   string
	}{
		{"parameters", all * number, "counted"},
		{"gradients", info.Batch * all * number, "counted: one set for each sequence of the batch"},
		{"update", slots * number, "counted: the state of the update and of the buffer for each parameter"},
		{"context memory", info.Batch * info.States * number, "counted: one set for each sequence of the batch"},
		{"work of a chunk", arena, "measured on this machine with the whole batch"},
	}
	if n := c.Build.GradientChunks; n > 1 { // beside the memory of each chunk: the adjoints, and that of the chunk that runs again
		rows = append(rows, struct {
			what  string
			bytes int
			how   string
		}{"across chunks", info.Batch * info.States * number * (n + 2), fmt.Sprintf("counted: context memory at the start of each of the %d chunks of a gradient, and its adjoints", n)})
	}
	total := 0
	say("")
	for _, r := range rows {
		say("%-16s %14s bytes  (%s)", r.what, count(r.bytes), r.how)
		total += r.bytes
	}
	say("%-16s %14s bytes  (without the text and the program)", "total", count(total))
	if info.OnDevice > 0 {
		say("%-16s %14s bytes  (counted by a dry run: one set of gradients for the whole batch)", "on the GPU", count(info.OnDevice))
	}
	tensors := 3 * len(info.Params)
	const header = 200 // bytes for each tensor
	one := (all+slots+info.Batch*info.States)*number + 8*info.Steps + header*tensors
	say("%-16s %14s bytes  (estimated: each, at the end)", "checkpoint", count(one))
}

// A part is a row of the table of parameters by block.
type part struct {
	name                 string
	level                int
	all, matrices, slots int
}

// blocks sums the parameters by block and level, in the order of the table.
func blocks(params []engine.Param) (out []part) {
	at := map[string]int{}
	for _, p := range params {
		name := p.Block
		if name == "" {
			name = "model"
		}
		key := fmt.Sprint(p.Level, " ", name)
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, part{name: name, level: p.Level})
		}
		out[i].all += p.Size
		out[i].slots += p.Slots
		if len(p.Shape) > 1 {
			out[i].matrices += p.Size
		}
	}
	return out
}

func count(n int) string { return progress.Count(n) }
