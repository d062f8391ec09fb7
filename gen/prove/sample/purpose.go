package sample

// A Purpose seeds the random numbers of one kind of test, so that a test more or less
// changes no other.
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
