package main

import (
	"syscall"
	"unsafe"
)

// clockWords says what nanoseconds are.
const clockWords = "CPU time of the one thread"

// now is the time that this thread has been running, in nanoseconds: what the
// scheduler gives to others does not count. The caller is locked to its thread.
// validation/bench/c/serve.c reads the same clock.
func now() int64 {
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	return clock(threadCPU)
}

// processNow is the time of all threads of the process.
func processNow() int64 {
	const processCPU = 2 // CLOCK_PROCESS_CPUTIME_ID
	return clock(processCPU)
}

func clock(id uintptr) int64 {
	var ts syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		panic("bench: there is no such clock: " + e.Error())
	}
	return ts.Nano()
}
