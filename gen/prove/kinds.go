package prove

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/irbuild"
	"github.com/nl-hecate/hecate/gen/prove/claim"
	"github.com/nl-hecate/hecate/gen/prove/cost"
	"github.com/nl-hecate/hecate/gen/prove/equivalence"
	"github.com/nl-hecate/hecate/gen/prove/gradient"
	"github.com/nl-hecate/hecate/gen/prove/invariant"
	"github.com/nl-hecate/hecate/gen/prove/marker"
	"github.com/nl-hecate/hecate/gen/prove/proof"
)

// A class is a set of units that are proved in the same way.
type class uint8

const (
	operation class = 1 << iota
	rule
	chunked     // a rule that a strategy computes chunk by chunk
	composition // or a model
	function
	bias
	updateRule
)

// A kind is a row of the table of the kinds of proof.
type kind struct {
	item    proof.Kind // of the items that it adds to the report
	decides string     // in one line
	of      class      // the units that it is for
	prove   func(p *proof.Context, u *programs)
}

// statementKinds are the kinds of items that lines of a page ask for. A line is refused where the
// table has no row of its kind for the unit's class.
var statementKinds = []proof.Kind{proof.Kink, proof.Invariant, proof.Cost, proof.Marker, proof.Special, proof.Requires}

// kinds lists the kinds of proof in the order of a report. Where an unknown has no root, nothing
// else of the unit is decided. To add a kind: a row here, and a package or function below.
var kinds = []kind{
	{proof.Root, "an unknown has one simple root in its range", operation | rule | chunked | composition | function,
		func(p *proof.Context, u *programs) { u.stop = !gradient.Roots(p, u.all...) }},
	{proof.InnerGradient, "a ∇ inside an equation is the gradient of its function", operation | rule | composition | bias,
		func(p *proof.Context, _ *programs) { gradient.Inner(p) }},
	{proof.InnerGradient, "a function that replaces a derived gradient equals it", bias,
		func(p *proof.Context, _ *programs) { claim.Overrides(p) }},
	{proof.Domain, "every step of an update is finite", updateRule,
		func(p *proof.Context, u *programs) { equivalence.FiniteSteps(p, u.main) }},
	{proof.OuterGradient, "the adjoint of a program is its gradient, and every learned parameter has one", operation | rule | chunked | composition | function,
		func(p *proof.Context, u *programs) { gradient.Adjoints(p, u.subjects) }},
	{proof.Claim, "an iteration that is declared to hold for the transpose does", updateRule,
		func(p *proof.Context, u *programs) { equivalence.Orientation(p, u.main) }},
	{proof.Claim, "an equality that the page states", operation | rule | composition | function | bias | updateRule,
		func(p *proof.Context, _ *programs) { claim.All(p) }},
	{proof.Claim, "a strategy computes its rule", chunked,
		func(p *proof.Context, _ *programs) { equivalence.StrategyClaims(p) }},
	{proof.Approximation, "the distance of a strategy from its rule", chunked,
		func(p *proof.Context, _ *programs) { equivalence.MeasureApproximation(p) }},
	{proof.Kink, "a kink has the declared smoothness", operation | rule | function | bias,
		func(p *proof.Context, _ *programs) { claim.Kinks(p) }},
	{proof.Invariant, "an inequality or equality holds after every token, and declared sets are kept", rule,
		func(p *proof.Context, _ *programs) { invariant.OfRule(p) }},
	{proof.Invariant, "an inequality or equality holds of a result", operation | composition | function,
		func(p *proof.Context, _ *programs) { invariant.OfResult(p) }},
	{proof.Marker, "a property of the recurrence that the page provides", rule | chunked,
		func(p *proof.Context, u *programs) { marker.Provided(p, u.main, u.recurrence()) }},
	{proof.Requires, "a property that a knob requires of the others", rule,
		func(p *proof.Context, u *programs) { marker.Required(p, u.recurrence()) }},
	{proof.Cost, "the multiply-adds of one token", rule,
		func(p *proof.Context, u *programs) { cost.ProveToken(p, u.main) }},
	{proof.Cost, "the multiply-adds of one chunk", chunked,
		func(p *proof.Context, _ *programs) { cost.ProveChunks(p) }},
	{proof.Cost, "the multiply-adds of one call", operation | composition,
		func(p *proof.Context, u *programs) { cost.ProveCall(p, u.all) }},
	{proof.OuterGradient, "the adjoint of a whole model is its gradient", composition,
		func(p *proof.Context, u *programs) { gradient.Adjoints(p, u.wholeSubject) }},
	{proof.Marker, "no result depends on a later token", operation | composition,
		func(p *proof.Context, u *programs) { marker.Causality(p, u.causal()...) }},
	{proof.Special, "two formulas are the same function", rule | composition,
		func(p *proof.Context, u *programs) {
			if u.main != nil {
				equivalence.Specials(p)
			}
		}},
	{proof.Special, "two updates take the same steps", updateRule,
		func(p *proof.Context, _ *programs) { equivalence.UpdateSpecials(p) }},
	{proof.Cut, "whether results depend on how the tokens are cut into calls", rule | chunked | composition,
		func(p *proof.Context, u *programs) { listCuts(p, u) }},
	{proof.Init, "every learned parameter has a gradient at the values that it starts from", rule | composition,
		func(p *proof.Context, u *programs) {
			if u.main != nil {
				gradient.AtStart(p, u.main)
			}
		}},
}

// listCuts lists a program whose results depend on how its tokens are cut into calls.
func listCuts(p *proof.Context, u *programs) {
	if u.main == nil {
		return
	}
	if why := irbuild.Cuts(u.main); len(why) > 0 {
		p.Add(proof.Item{Kind: proof.Cut, Name: "calls", Span: p.Unit.Span, Text: "results depend on how the tokens are cut into calls",
			Evidence: proof.Evidence{Verdict: proof.Proved, Note: strings.Join(why, "; ")}})
	}
}
