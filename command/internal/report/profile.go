package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nl-hecate/hecate/runtime/tape"
)

// Profile is the table of a profile: milliseconds of an update by unit and operation, those
// that take longest first, with shares of the whole. With several workers times are
// added up.
func Profile(rows []tape.Spent, updates int) string {
	var forward, backward, update time.Duration
	wide := [2]int{len("unit"), len("operation")}
	for _, r := range rows {
		forward, backward, update = forward+r.Forward, backward+r.Backward, update+r.Update
		wide = [2]int{max(wide[0], len(unitName(r))), max(wide[1], len(r.Operation))}
	}
	all := max(forward+backward+update, 1)
	ms := func(d time.Duration) float64 { return d.Seconds() * 1e3 / float64(max(updates, 1)) }
	var b strings.Builder
	fmt.Fprintf(&b, "profile of %d updates, ms of each; times of all workers are added\n", updates)
	line := func(unit, operation string, forward, backward, update time.Duration) {
		sum := forward + backward + update
		fmt.Fprintf(&b, "%-*s  %-*s  %9.3f %9.3f %9.3f  %5.1f %%\n", wide[0], unit, wide[1], operation,
			ms(forward), ms(backward), ms(update), 100*float64(sum)/float64(all))
	}
	fmt.Fprintf(&b, "%-*s  %-*s  %9s %9s %9s  %7s\n", wide[0], "unit", wide[1], "operation", "forward", "backward", "update", "share")
	for _, r := range rows {
		line(unitName(r), r.Operation, r.Forward, r.Backward, r.Update)
	}
	line("all", "", forward, backward, update)
	return b.String()
}

// unitName is the path of a unit in the model.
func unitName(r tape.Spent) string {
	if r.Update > 0 {
		return "-"
	}
	return cmp.Or(r.Unit, "model")
}
