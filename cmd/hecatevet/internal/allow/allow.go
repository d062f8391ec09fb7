// Package allow checks the directives themselves: unknown ones, those in a wrong
// place, those without a reason and those that allow what nobody reports.
package allow

import (
	"go/token"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/nl-hecate/hecate/cmd/hecatevet/internal/mark"
)

// New returns the analyzer; it needs the names of the others.
func New(others ...*analysis.Analyzer) *analysis.Analyzer {
	var names []string
	for _, a := range others {
		names = append(names, a.Name)
	}
	a := &analysis.Analyzer{
		Name: "allow",
		Doc: `check the directives of this tool; list the findings that they suppress

	//hecate:allow ANALYZER reason

suppresses the findings of one analyzer: on its own line; alone on a line, on the next
one; in the doc of a function, in all of it. Reported are directives without a reason,
for an unknown analyzer, or that suppress nothing; unknown directives; and marks on
declarations where they have no meaning.

With -allow.list every directive that suppresses a finding is reported with its reason.

The marks that say what a thing is for, in its doc:

` + mark.Help() + `
A mark holds in every package that imports the one that declares it, and not in that
one: the declaring package implements what the mark promises.`,
		Requires: append([]*analysis.Analyzer{mark.Analyzer}, others...),
	}
	list := a.Flags.Bool("list", false, "report what is allowed, and why")
	a.Run = func(pass *analysis.Pass) (any, error) {
		look(pass, names, *list)
		return nil, nil
	}
	return a
}

// look reports the invalid directives of a package, and lists the others.
func look(pass *analysis.Pass, names []string, list bool) {
	marks := pass.ResultOf[mark.Analyzer].(*mark.Marks)
	marks.Wrong(func(pos token.Pos, msg string) { pass.Reportf(pos, "%s", msg) })
	marks.Allows(func(d *mark.Allow, used bool) {
		switch {
		case !slices.Contains(names, d.Analyzer):
			pass.Reportf(d.Pos, "there is no analyzer %s to allow; there are %s", d.Analyzer, strings.Join(names, ", "))
		case !used:
			pass.Reportf(d.Pos, "%s reports nothing here: remove the directive", d.Analyzer)
		case list:
			pass.Reportf(d.Pos, "allowed: %s: %s", d.Analyzer, d.Reason)
		}
	})
}
