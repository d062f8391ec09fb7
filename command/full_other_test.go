//go:build !linux

package command

// full is the command; a limit on files is not set here.
func full() { main() }
