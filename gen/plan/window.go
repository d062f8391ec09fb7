package plan

// A Window runs the tokens between two checkpoints backwards: Replay computes
// the states of tokens From to To from the one before them, and Reverse runs
// over the same tokens from the last to the first. Both are loops over time in
// [From, To), and what Replay leaves in Trail is indexed from From on.
//
// A target may take all tokens at once, From being 0 and To the least of Hi; or
// it replays them all, keeping a state here and there, and then takes stretches
// that its nearest memory holds, from the last to the first, each replayed once
// more. No bit depends on the choice.
type Window struct {
	From, To        *Var
	Hi              []Index
	Trail           []*Buffer
	Replay, Reverse *Region
}

func (*Window) node() {}
