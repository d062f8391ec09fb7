package command

import (
	"os/signal"
	"syscall"
)

// full is the command in a process whose files may not grow beyond a few thousand
// bytes: the kernel then refuses a write as a full disk does.
func full() {
	const bytes = 1 << 13
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes}); err != nil {
		panic(err)
	}
	hecate()
}
