package expr

// The scalar functions that a page may call by name, of one argument and of two.
var (
	Functions  = functions
	Functions2 = functions2
)
