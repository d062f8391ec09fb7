package module_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/module"
	"github.com/nl-hecate/hecate/runtime/pulse"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

func scheduled(t testing.TB, s update.Schedule) *module.Session[float64] {
	t.Helper()
	m, err := module.New(module.Config[float64]{Model: echo[float64]{stream.Vocab, 3}, Update: &descent[float64]{0.5}, Schedule: s, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(m, batchOf(t, 2), pulse.Schedule{}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// TestScheduleOfLevels: a level of period 4 has the factor of the run's step, not of its
// own updates, and the power of its period.
func TestScheduleOfLevels(t *testing.T) {
	for _, chunks := range []int{1, 2} {
		scheduleOfLevels(t, chunks)
	}
}

// scheduleOfLevels has updates of a number of chunks each.
func scheduleOfLevels(t *testing.T, chunks int) {
	u, buffer := &rated{descent: descent[float64]{1}}, &adding{}
	s := update.Schedule{Shape: update.Cosine, Steps: 9, WarmUp: 6, Power: 0.5}
	slower := math.Sqrt(float64(4 / chunks)) // steps between two updates
	m, err := module.New(module.Config[float64]{Model: twoLevels{echo: echo[float64]{stream.Vocab, 1}}, Update: u, Buffer: buffer, Schedule: s, Chunks: chunks})
	if err != nil {
		t.Fatal(err)
	}
	x, err := module.NewSession(m, batchOf(t, 1), pulse.Schedule{Periods: []int{1, 4}}, pulse.Build)
	if err != nil {
		t.Fatal(err)
	}
	slow := 0
	for n := 1; n <= 9; n++ {
		u.seen = nil // one step of all its chunks
		step(t, x, 1)
		for _, got := range u.seen {
			switch want := s.Factor(n); got {
			case want:
			case want * slower:
				slow++
			default:
				t.Errorf("step %d: a parameter has the rate %v, the schedule says %v", n, got, want)
			}
		}
	}
	if slow == 0 {
		t.Error("the slow level was not updated")
	}
}

// rated records the rate of every update, and changes nothing.
type rated struct {
	descent[float64]
	seen []float64
}

func (u *rated) Slots(context.Param) update.Slots[float64] { return ratedSlots{u: u} }

type ratedSlots struct {
	addingSlots
	u *rated
}

func (s ratedSlots) Step(*tape.Run[float64], int, []float64, []float64) {
	s.u.seen = append(s.u.seen, s.u.rate)
}

// TestResumeOfSchedule: a run resumes bit for bit while its rate rises, stays and falls,
// under every schedule that has the rates of the steps that are done, and under no other.
func TestResumeOfSchedule(t *testing.T) {
	s := update.Schedule{Shape: update.WSD, Steps: 9, WarmUp: 3, Decay: 0.4, Final: 0.1}
	whole := scheduled(t, s)
	for range s.Steps {
		step(t, whole, 3)
	}
	want := words(t, whole)
	longer, open, other := s, s, s // Steps 0 is not decided
	longer.Steps, open.Steps, other.WarmUp = 18, 0, 2
	for cut := range s.Steps {
		x := scheduled(t, s)
		for range cut {
			step(t, x, 3)
		}
		snap, err := x.SnapshotBuild(id)
		saved := through(t, snap, err)
		rest := scheduled(t, open) // takes the number of steps from the checkpoint
		if err := rest.ResumeBuild(saved, id, nil); err != nil {
			t.Fatal(err)
		}
		for range s.Steps - cut {
			step(t, rest, 3)
		}
		if !bytes.Equal(words(t, rest), want) {
			t.Errorf("cut at %d: the last checkpoint differs", cut)
		}
		for here, from := range map[update.Schedule]int{longer: 7, other: 1, {}: 1} {
			err := scheduled(t, here).ResumeBuild(through(t, snap, nil), id, nil)
			if cut < from && err != nil {
				t.Errorf("cut at %d, here %v: %v", cut, here, err)
			}
			if cut >= from && (!errors.Is(err, module.ErrSchedule) || !strings.Contains(err.Error(), "saved wsd over 9 steps, the last 0.4 of them to 0.1, warm-up 3, here "+here.String())) {
				t.Errorf("cut at %d, here %v: %v", cut, here, err)
			}
		}
	}
}

// TestDecide: a number of steps that is decided late, and one that leaves no room.
func TestDecide(t *testing.T) {
	x := scheduled(t, update.Schedule{Shape: update.Cosine, WarmUp: 3})
	if err := x.Module().Decide(3); err == nil {
		t.Error("a run of 3 steps has a warm-up of 3")
	}
	if err := x.Module().Decide(8); err != nil || x.Module().Moves().Schedule().Steps != 8 {
		t.Error(err)
	}
	if _, err := module.New(module.Config[float64]{Model: echo[float64]{stream.Vocab, 3}, Update: &descent[float64]{0.5},
		Schedule: update.Schedule{Steps: 2, WarmUp: 2}}); err == nil {
		t.Error("a schedule longer than the run")
	}
}

// TestNoDecay: what a page marks, and the kinds that a run names.
func TestNoDecay(t *testing.T) {
	u := &marked{no: map[string]bool{}}
	if _, err := module.New(module.Config[float64]{Model: echo[float64]{stream.Vocab, 3}, Update: u, NoDecay: update.Vectors}); err != nil {
		t.Fatal(err)
	}
	if u.no["E"] || !u.no["a"] {
		t.Errorf("no decay: %v", u.no)
	}
}

// marked records which parameters do not decay.
type marked struct {
	rated
	no map[string]bool
}

func (u *marked) Slots(p context.Param) update.Slots[float64] {
	u.no[p.Name] = p.NoDecay
	return addingSlots{}
}
