package engine

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/block"
	rtcontext "github.com/nl-hecate/hecate/runtime/context"
	"github.com/nl-hecate/hecate/runtime/tape"
	"github.com/nl-hecate/hecate/runtime/update"
)

// given is a model whose parameters begin with given values.
type given struct {
	block.Model[float32]
	params *rtcontext.ParamSet[float32]
}

// Declare adds the model's parameters, each with the values that it has.
func (g given) Declare(s *rtcontext.ParamSet[float32], prefix string) error {
	v := g.params.View()
	for i := range v.Len() {
		p := v.Param(i)
		p.Name = prefix + p.Name
		p.Init = rtcontext.Init{Kind: rtcontext.Values, List: make([]float64, len(v.Data(i)))}
		for j, x := range v.Data(i) {
			p.Init.List[j] = float64(x)
		}
		if err := s.Add(p); err != nil {
			return err
		}
	}
	return nil
}

// idle is the update of a model that does not move.
type idle struct{}

func (idle) Name() string                                { return "none" }
func (idle) Settings(func(name string, x float64))       {}
func (idle) Set(name string, _ float64) error            { return fmt.Errorf("%w %s", update.ErrSetting, name) }
func (idle) Slots(rtcontext.Param) update.Slots[float32] { return still{} }

type still struct{}

func (still) By() string                                       { return "none" }
func (still) Fire(_ *tape.Run[float32], _ int, _, _ []float32) {}
func (still) Each(func(name string, data []float32))           {}
