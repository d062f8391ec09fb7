package knobs_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/nl-hecate/hecate/runtime/knobs"
)

var table = knobs.Table{
	Slots: []knobs.Slot{{"cup", []string{"Ring", "Bowl"}}, {"lid", []string{"Flat", "Wheel"}}, {"tray", nil}},
	Needs: []knobs.Need{{Slot: 1, By: "Wheel", Of: 0, Mark: "round", Reason: "a wheel turns", Meets: []string{"Ring"}},
		{Slot: 0, By: "Bowl", Of: 1, Mark: "deep", Reason: "a bowl spills"}},
}

func TestCheck(t *testing.T) {
	pair := table
	pair.Slots = pair.Slots[:2]
	for _, c := range []struct{ cup, lid, want string }{
		{"Ring", "Flat", ""},
		{"Ring", "Wheel", ""},
		{"Bowl", "Wheel", "lid Wheel does not go with cup Bowl: a wheel turns (round is provided by Ring)"},
		{"Bowl", "Flat", "cup Bowl does not go with lid Flat: a bowl spills (deep is provided by nothing)"},
		{"Bowl", "Cone", "there is no lid Cone; there are Flat, Wheel"},
	} {
		got := ""
		if err := pair.Check(c.cup, c.lid); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("Check(%s, %s) is %q, want %q", c.cup, c.lid, got, c.want)
		}
	}
	if n := len(pair.Unmet([]string{"Bowl", "Wheel"})); n != 2 {
		t.Errorf("Bowl and Wheel break %d requirements, want 2", n)
	}
	var unknown *knobs.Unknown
	if err := table.Check("Ring", "Flat", "Tin"); !errors.As(err, &unknown) || err.Error() != "there is no tray Tin; there are nothing" {
		t.Errorf("a slot without values: %v", err)
	}
}

func TestNames(t *testing.T) {
	names := table.Names("lid")
	if !slices.Equal(names, []string{"Flat", "Wheel"}) || table.Names("hat") != nil {
		t.Errorf("Names are %v and %v", names, table.Names("hat"))
	}
	names[0] = "Cone"
	if table.Slots[1].Values[0] != "Flat" {
		t.Error("Names returned the table's own list")
	}
}
