package check

import (
	"slices"
	"strings"

	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/units"
)

// legal refuses a formula whose knobs do not get what they require; one message
// for each line that requires.
func (in *instancer) legal(f *notation.Formula) bool {
	var knobs []*notation.Unit
	for _, p := range f.Parts {
		knobs = append(knobs, in.tree.Units[p.Name.Text])
	}
	bad := units.Violations(knobs)
	for i, v := range bad {
		if i > 0 && bad[i-1].Line == v.Line {
			continue
		}
		at := f.Parts[slices.Index(knobs, v.By)].Span
		mark := notation.Print(v.Mark, notation.Unicode)
		in.ds.Errorf(diag.IllegalFormula, at, "%s does not fit here: %s", v.By.Name.Text, v.Reason()).
			Labelf("requires %s", mark).
			See(v.Line.Span, "%s requires it", v.By.Name.Text).
			Hint("%s", in.remedy(v))
	}
	return len(bad) == 0
}

// remedy names the knobs that would meet a requirement.
func (in *instancer) remedy(v units.Violation) string {
	var names []string
	for _, k := range units.Knobs {
		for _, u := range in.tree.Whole().Kinds(k) {
			if k != v.By.Kind && !u.Example && units.Meets(u, v.Mark.Name.Text) {
				names = append(names, k.String()+" "+u.Name.Text)
			}
		}
	}
	if len(names) == 0 {
		return "no page provides " + v.Mark.Name.Text
	}
	return v.Mark.Name.Text + " is provided by " + strings.Join(names, ", ")
}
