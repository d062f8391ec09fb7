package drive

import (
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
)

// TestAccount has two levels, of which the second is updated with every fourth chunk.
func TestAccount(t *testing.T) {
	c := config.Default()
	info := engine.Info{Model: "M", Batch: 8, Chunk: 64, Periods: []int{1, 256}, Counts: "tokens", Unit: "byte", Buffer: "B", States: 10, Params: []engine.Param{
		{Name: "E", Shape: []int{10, 10}, Size: 100, Slots: 200},
		{Name: "slow.W", Shape: []int{20, 20}, Size: 400, Block: "slow", Level: 1, Slots: 800},
		{Name: "slow.b", Shape: []int{40}, Size: 40, Block: "slow", Level: 1, Slots: 80},
	}}
	got := Account(info, &c, 1000)
	for _, want := range []string{
		"# model                            0       1          100          100\n",
		"# slow                             1       4          440          400\n",
		"# total 540, active on average 210, at most 540\n",
		"# operations per token: 1,040 in a forward pass, 3,120 forward and backward (estimated",
		"# parameters                2,160 bytes  (counted)\n",
		"# gradients                17,280 bytes",
		"# update                    4,320 bytes",
		"# context memory              320 bytes",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "#") || strings.HasSuffix(line, " \n") {
			t.Errorf("%q is no comment of a configuration", line)
		}
	}
}
