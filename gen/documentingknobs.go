package gen

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/check"
	"github.com/nl-hecate/hecate/gen/docs"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/notation"
	"github.com/nl-hecate/hecate/gen/plan"
	"github.com/nl-hecate/hecate/gen/prove"
	"github.com/nl-hecate/hecate/gen/shape"
)

// What may be combined is read off the same table that the types of
// generated/safety are made from.

// legality makes a table for every two slots.
func (d *documenter) legality() {
	c := d.table.Choices()
	all, legal := 0, 0
	together := map[[2]string]bool{}
	for _, t := range d.table.Tuples() {
		all++
		if !t.Legal() {
			continue
		}
		legal++
		for i, a := range t.Names() {
			for _, b := range t.Names()[i+1:] {
				together[[2]string{a, b}] = true
			}
		}
	}
	d.site.Counts = fmt.Sprintf("%d combinations of a structure, a bias, a retention and an algorithm, %d of them legal.", all, legal)
	for i := range c.Slots {
		for j := i + 1; j < len(c.Slots); j++ {
			if len(c.Slots[i].Values) == 0 || len(c.Slots[j].Values) == 0 {
				continue
			}
			p := &docs.Pairs{Title: upperFirst(c.Slots[i].Word) + " and " + c.Slots[j].Word}
			for _, v := range c.Slots[j].Values {
				p.Cols = append(p.Cols, linkTo(v.Name))
			}
			for _, v := range c.Slots[i].Values {
				row := docs.PairRow{Link: linkTo(v.Name)}
				for _, w := range c.Slots[j].Values {
					text, reasons := pairing(c, i, v.Name, j, w.Name, together[[2]string{v.Name, w.Name}])
					for _, r := range reasons {
						text += fmt.Sprintf(" [%d]", d.reason(r))
					}
					row.Cells = append(row.Cells, text)
				}
				p.Rows = append(p.Rows, row)
			}
			d.site.Pairs = append(d.site.Pairs, p)
		}
	}
}

func linkTo(name string) docs.Link { return docs.Link{Name: name, ID: check.ID(name)} }

// reason is the number of a sentence.
func (d *documenter) reason(text string) int {
	i := slices.Index(d.site.Reasons, text)
	if i < 0 {
		i = len(d.site.Reasons)
		d.site.Reasons = append(d.site.Reasons, text)
	}
	return i + 1
}

// pairing says whether a value of slot i stands with one of slot j: yes, with
// what else, or no and why.
func pairing(c *plan.Choices, i int, a string, j int, b string, together bool) (text string, reasons []string) {
	var with, own []string
	for _, n := range c.Needs {
		mine := n.Slot == i && n.By == a
		yours := n.Slot == j && n.By == b
		if !mine && !yours {
			continue
		}
		other, slot := b, j
		if yours {
			other, slot = a, i
		}
		switch {
		case n.Of == slot && slices.Contains(n.Meets, other):
		case n.Of == slot:
			reasons = append(reasons, n.By+": "+n.Reason)
		case len(n.Meets) > 0:
			with = append(with, strings.Join(n.Meets, " or "))
			own = append(own, n.By+": "+n.Reason)
		default:
			own = append(own, n.By+": "+n.Reason)
		}
	}
	switch {
	case together && len(with) == 0:
		return "yes", nil
	case together:
		slices.Sort(with)
		return "with " + strings.Join(slices.Compact(with), " and "), nil
	case len(reasons) == 0:
		reasons = own
	}
	return "no", reasons
}

// partners lists for a knob the values of the other slots.
func (d *documenter) partners(e *docs.Entry, u *notation.Unit) {
	c := d.table.Choices()
	me := slices.IndexFunc(c.Slots, func(s plan.Slot) bool { return s.Word == e.Kind })
	if me < 0 {
		return
	}
	together := map[string]bool{}
	for _, t := range d.table.Tuples() {
		if t.Legal() && t.Knobs[me] == u {
			for _, n := range t.Names() {
				together[n] = true
			}
		}
	}
	for j, s := range c.Slots {
		if j == me {
			continue
		}
		for _, v := range s.Values {
			text, reasons := pairing(c, me, e.Name, j, v.Name, together[v.Name])
			e.Partners = append(e.Partners, docs.Partner{Slot: s.Word, Name: v.Name, ID: check.ID(v.Name), Legal: text, Reason: strings.Join(reasons, "; ")})
		}
	}
}

// forms says of each rule how it may be computed: by the markers that were proved
// of all its states, and by giving it every strategy.
func (d *documenter) forms() {
	strategies := d.src.Tree.Kinds(notation.StrategyUnit)
	strategies = slices.DeleteFunc(strategies, func(u *notation.Unit) bool { return u.Example })
	for _, s := range strategies {
		d.site.Ways = append(d.site.Ways, linkTo(s.Name.Text))
	}
	var rules []*notation.Unit
	for _, e := range d.site.Entries {
		u := d.plans[e.Name]
		if e.Kind != check.KindWord(notation.RuleUnit) || u == nil || d.chunked[e.Name] {
			continue
		}
		var states []string
		for _, s := range u.States {
			if !strings.HasSuffix(s.Name, ".tail") {
				states = append(states, s.Name)
			}
		}
		has := func(marker string) string { return covers(d.proofs[e.Name], marker, states) }
		d.site.Forms = append(d.site.Forms, docs.Form{Link: linkTo(e.Name), Scalar: has("ScalarAffineInState"), Affine: has("AffineInState"), Rows: has("RowIndependent")})
		rules = append(rules, d.src.Tree.Units[e.Name])
	}
	found := make([][]prove.Standing, len(rules))
	var wg sync.WaitGroup
	for i, r := range rules {
		wg.Go(func() {
			for _, s := range strategies {
				found[i] = append(found[i], prove.Stands(d.src.Tree, s, r))
			}
		})
	}
	wg.Wait()
	for i, row := range found {
		for _, s := range row {
			d.site.Forms[i].Ways = append(d.site.Forms[i].Ways, d.standing(s))
		}
	}
}

// standing is how a strategy stands to a rule, as a cell of the table.
func (d *documenter) standing(s prove.Standing) string {
	switch {
	case s.Refused != "":
		return fmt.Sprintf("no [%d]", d.reason(s.Refused))
	case s.Exact():
		return "exact"
	}
	off, tokens := s.Last()
	d.site.Tokens = tokens
	return fmt.Sprintf("off by %.1g", off)
}

// covers says for which of the states a marker was proved; one line of a page
// may name several.
func covers(r *prove.Report, marker string, states []string) string {
	found := map[string]bool{}
	if r != nil {
		for _, it := range r.Items {
			name, args, _ := strings.Cut(strings.TrimSuffix(it.Text, ")"), "(")
			if it.Kind == prove.Marker && it.Verdict == prove.Proved && name == marker {
				for a := range strings.SplitSeq(args, ", ") {
					found[check.ASCII(a)] = true
				}
			}
		}
	}
	var have []string
	for _, s := range states {
		if found[s] {
			have = append(have, s)
		}
	}
	switch {
	case len(states) == 0:
		return "no state"
	case len(have) == len(states):
		return "yes"
	case len(have) == 0:
		return "no"
	}
	return "of " + strings.Join(have, ", ")
}

// kernelText is the path of a kernel's CUDA text under the root, "" without that target.
func (d *documenter) kernelText(u *abi.Unit, k *plan.Kernel) string {
	if d.cuda == "" {
		return ""
	}
	return d.cuda + "/" + emitcuda.File(u, k)
}

func dimsText(dims []shape.Poly) string {
	var out []string
	for _, p := range dims {
		out = append(out, p.String())
	}
	if len(out) == 0 {
		return "number"
	}
	return strings.Join(out, " × ")
}

// startText is what a parameter starts from.
func startText(i abi.Init) string {
	switch i.Kind {
	case abi.Levels:
		var out []string
		for _, x := range i.Levels {
			out = append(out, fmt.Sprint(x))
		}
		return "by level " + strings.ReplaceAll(strings.Join(out, ", "), "-", "−")
	case abi.Uniform:
		return "uniform(" + sizeText(i.A) + ", " + sizeText(i.B) + ")"
	case abi.Normal:
		return "normal(" + sizeText(i.A) + ", " + sizeText(i.B) + ")"
	}
	return sizeText(i.A)
}

// sizeText prints a number that depends on sizes.
func sizeText(x abi.SizeExpr) string {
	arg := func(i int) string {
		s := sizeText(x.Args[i])
		if strings.ContainsAny(s, " ") && !strings.HasSuffix(s, ")") {
			return "(" + s + ")"
		}
		return s
	}
	switch x.Op {
	case "", "num":
		if math.IsInf(x.Num, 0) {
			return "∞"
		}
		return strings.Replace(fmt.Sprint(x.Num), "-", "−", 1)
	case "size":
		return x.Size.String()
	case "neg":
		return "−" + arg(0)
	case "sqrt":
		return "sqrt(" + sizeText(x.Args[0]) + ")"
	}
	sign := map[string]string{"add": " + ", "sub": " − ", "mul": " ", "div": "/"}[x.Op]
	return arg(0) + sign + arg(1)
}
