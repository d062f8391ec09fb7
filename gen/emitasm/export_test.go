package emitasm

// Independent is whether rows of a nest may run at once.
var Independent = independent
