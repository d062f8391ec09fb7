// Package prove decides what a page says about its equations, or refuses it.
//
// Each statement of a unit becomes an item of a report, and each item has a
// verdict: proved (two normal forms are equal, or interval arithmetic decides),
// tested (both sides were evaluated in float64 or double-double arithmetic at
// points drawn from the declared sets, at sizes that tell all axes apart),
// declared, prose only, or failed. What fails also has a diagnostic with the
// smallest case that shows it.
//
// This package is the driver. The table kinds lists the kinds of proof; each is
// a function of a package below this folder, and all of them work on a
// proof.Context.
package prove

import (
	"slices"

	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/diag"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/prove/claim"
	"github.com/nl-hecate/hecate/gen/prove/proof"
	"github.com/nl-hecate/hecate/gen/units"
)

// Block proves one unit. The list has errors exactly when an item of the report
// failed.
func Block(tree *units.Tree, u *notation.Unit, opt proof.Options) (*proof.Report, diag.List) {
	p := proof.NewContext(tree, u, opt)
	proveBlock(p)
	return p.Report, p.Diags
}

// proveBlock chooses how the unit is proved.
func proveBlock(p *proof.Context) {
	switch p.Unit.Kind {
	case notation.StrategyUnit:
		p.DeferStatements()
		return
	case notation.FrontUnit, notation.StructUnit, notation.RetentionUnit, notation.AlgorithmUnit, notation.LawUnit:
		if !proveInSomeFormula(p) {
			p.DeferStatements()
		}
		proveFunctionClaims(p)
		return
	}
	blk, ds := check.Instantiate(p.Tree, p.Unit)
	p.Diags.Append(ds)
	if blk == nil || ds.HasErrors() {
		p.FailShape(ds.Len())
		return
	}
	p.Block = blk
	if c, ok := classOf(blk); ok {
		proveAs(p, c)
	} else {
		p.DeferStatements()
	}
	if blk.Unit.Kind == notation.BiasUnit {
		proveInTrials(p)
	}
	errata(p)
}

// proveAs decides every row of the table for a class, and refuses the statements for which the
// table has none.
func proveAs(p *proof.Context, c class) {
	u := build(p, c)
	if u == nil {
		return
	}
	for _, k := range kinds {
		if k.of&c == 0 {
			continue
		}
		if k.prove(p, u); u.stop {
			return
		}
	}
	p.RefuseStatements(slices.DeleteFunc(slices.Clone(statementKinds), func(s proof.Kind) bool {
		return slices.ContainsFunc(kinds, func(k kind) bool { return k.of&c != 0 && k.item == s })
	})...)
}

// proveFunctionClaims proves the claims of a knob's page about its own functions.
func proveFunctionClaims(p *proof.Context) {
	alone, all := proof.FunctionClaims(p.Unit)
	if len(all) == 0 {
		return
	}
	blk, ds := check.Instantiate(p.Tree, alone)
	if p.Diags.Append(ds); blk == nil || ds.HasErrors() {
		p.FailShape(ds.Len())
		return
	}
	p.Block = blk
	for _, c := range all {
		claim.Prove(p, c)
	}
}

// proveInSomeFormula proves a knob in the formulas of its trial lines, or an unused
// knob in the plainest formula that can be built, and reports whether it did.
func proveInSomeFormula(p *proof.Context) bool {
	if proveInTrials(p) {
		return true
	}
	blk, f, ds := proof.TrialBlock(p.Tree, p.Unit)
	if blk == nil {
		if ds.HasErrors() {
			p.Diags.Append(ds)
			p.FailShape(ds.Len())
		}
		return ds.HasErrors()
	}
	proveInFormula(p, blk, f)
	return true
}

// proveInTrials proves a knob in the formulas of its trial lines, if it has some.
func proveInTrials(p *proof.Context) bool {
	all := units.Trials(p.Unit)
	for _, f := range all {
		blk, ds := check.InstantiateFormula(p.Tree, p.Unit.Name.Text, f, nil)
		p.Diags.Append(ds)
		if blk == nil || ds.HasErrors() {
			p.FailShape(ds.Len())
			continue
		}
		proveInFormula(p, blk, f)
	}
	return len(all) > 0
}

// proveInFormula proves the rule of a formula, and notes the formula.
func proveInFormula(p *proof.Context, blk *check.Block, f *notation.Formula) {
	p.Block = blk
	first := len(p.Report.Items)
	proveAs(p, rule)
	p.Report.Items[first].Note = "in " + proof.FormulaText(f)
}
