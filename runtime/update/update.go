// Package update updates the parameters of a model: the interface of every generated
// update (optimizer), and a Machine that updates each parameter with a step count of
// its own.
//
// An update does not depend on a model. It makes the slots of each parameter once,
// from the parameter's declaration: its shape and attributes. So an update of
// matrices can leave other parameters to another update, and the update of each
// parameter is known before the first step.
package update

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/num"
	"github.com/nl-hecate/hecate/runtime/tape"
)

// ErrSetting is wrapped by the errors of Set.
var ErrSetting = errors.New("update: no such setting")

// An Update changes parameters by their gradients, with settings that may change from
// step to step.
type Update[F num.Float] interface {
	// Name is the name of its page.
	Name() string
	// Settings calls f for every setting, in the order of the page. Those of the
	// update that moves the rest are called else.NAME.
	Settings(f func(name string, x float64))
	// Set changes a setting. The error lists the settings, or the range of this one,
	// and then nothing has changed.
	Set(name string, x float64) error
	// Slots makes the state of the update for a parameter, all zero.
	Slots(p context.Param) Slots[F]
}

// Slots are the state of an update for one parameter.
type Slots[F num.Float] interface {
	// By is the name of the update of the parameter.
	By() string
	// Step changes w in place by its gradient g, with workspace from r. n counts
	// the updates of the parameter's level, from 1.
	Step(r *tape.Run[F], n int, w, g []F)
	// Each calls f for every slot, as long as the parameter, to save and to
	// restore it. A slot is the same slice always.
	Each(f func(name string, data []F))
}

// Movable are slots that can be put into other memory: f returns a copy of each. Those of
// generated updates are.
type Movable[F num.Float] interface {
	Move(f func(data []F) []F)
}

// Joinable are slots of an update that updates each entry by itself. Over is one for n entries, of
// parameters that lie one after another, and so do their slots, from this one's on.
type Joinable[F num.Float] interface {
	Over(n int) Slots[F]
}

// Set changes a setting at z if x is a number and inside its range, which says
// is the text of; generated code calls it.
func Set(z *float64, name string, x float64, inside bool, says string) error {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return fmt.Errorf("setting %s is %v, must be a number", name, x)
	case !inside:
		return fmt.Errorf("setting %s is %v, must be %s", name, x, says)
	}
	*z = x
	return nil
}

// Unknown is the error for a name that is no setting; there lists those that
// are. Generated code calls it.
func Unknown(name string, there ...string) error {
	return fmt.Errorf("%w %s; there are %s", ErrSetting, name, strings.Join(there, ", "))
}

// Text is the settings of an update as "name=value …", which reads back to the
// same bits.
func Text[F num.Float](u Update[F]) string {
	var words []string
	u.Settings(func(name string, x float64) { words = append(words, fmt.Sprintf("%s=%v", name, x)) })
	return strings.Join(words, " ")
}
