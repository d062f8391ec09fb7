package report

import (
	"fmt"
	"time"

	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/nl-hecate/hecate/command/internal/progress"
)

// Plan is the length of a build in words: steps, tokens, how much of its text it reads, and
// its schedule.
func Plan(info *engine.Info, limit time.Duration) string {
	rate := fmt.Sprintf("lr %v, %s, clip %v", info.Rate, info.Rates, info.Clip)
	until := ""
	if limit > 0 {
		until = fmt.Sprintf("at most %v", limit)
	}
	if info.Steps == 0 {
		return until + "; " + rate
	}
	if until != "" {
		until = ", " + until
	}
	return fmt.Sprintf("%s, %s tokens, %s%s; %s", progress.Things(info.Steps, "step"), progress.Count(info.Steps*info.PerStep()),
		share(info, info.Steps), until, rate)
}

// share is how much of its text a number of steps reads, such as "27 % of the text" or "2.3
// epochs".
func share(info *engine.Info, steps int) string {
	epochs := info.Epochs(steps)
	switch {
	case epochs >= 1:
		return fmt.Sprintf("%.1f epochs", epochs)
	case info.Stream == "synthetic":
		return fmt.Sprintf("%.2g %% of the source", 100*epochs)
	}
	return fmt.Sprintf("%.2g %% of the text", 100*epochs)
}

// Unread is a warning that a build will not read all of its text, or "".
func Unread(info *engine.Info) string {
	whole := (info.Built + info.PerStep() - 1) / info.PerStep()
	if info.Steps == 0 || info.Steps >= whole || info.Stream == "synthetic" {
		return ""
	}
	return fmt.Sprintf("the build reads %s; --steps %d reads all of it", share(info, info.Steps), whole)
}
