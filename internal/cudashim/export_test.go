package cudashim

// BuildPortable is Build for the switch of fibers that any system has.
func BuildPortable(mode Mode, sources ...Source) (*Binary, error) {
	return build(mode, []string{"-DHECATE_UCONTEXT"}, sources)
}
