package sample

// A Purpose is what numbers are drawn for: each has its own.
type Purpose uint64

const (
	_ Purpose = iota
	ForGradient
	ForInner
	ForClaim
	ForCounterexample
	ForTerms
	ForTies
	ForKink
	ForInvariant
	ForTrajectory
	ForStress
	ForSet
	ForStart
	ForCausality
	ForSpecial
	forWeights
	ForOrientation
	ForUpdate
	ForMutant
	ForRoot
	ForChunks
	ForApproximation
	ForSnapshot
	forTokens
	ForPrimitive
)
