package module_test

import (
	"testing"

	"github.com/nl-hecate/hecate/runtime/pulse"
)

// TestProfile: a profile has a row for the operation and for the update, measures
// without changing a bit, and can be turned off.
func TestProfile(t *testing.T) {
	plain, measured := newSession[float32](t, 4, 5, pulse.Schedule{}), newSession[float32](t, 4, 5, pulse.Schedule{})
	measured.Module().Profile(true)
	for range 3 {
		if _, err := plain.Step(7); err != nil {
			t.Fatal(err)
		}
		if _, err := measured.Step(7); err != nil {
			t.Fatal(err)
		}
	}
	if plain.Module().Params().Hash() != measured.Module().Params().Hash() {
		t.Error("a profile changes the parameters")
	}
	rows, updates := measured.Module().Profiled()
	seen := map[string]bool{}
	for _, r := range rows {
		seen[r.Operation] = true
		if r.Operation == "module_test.echo" && !(r.Calls >= 6 && r.Forward > 0 && r.Backward > 0) {
			t.Errorf("a row without times: %+v", r)
		}
	}
	if updates != 3 || !seen["module_test.echo"] || !seen["update of the parameters"] {
		t.Errorf("%d updates, rows %+v", updates, rows)
	}
	measured.Module().Profile(false)
	if rows, updates := measured.Module().Profiled(); updates != 0 || rows != nil {
		t.Errorf("a profile that was turned off has %v", rows)
	}
}
