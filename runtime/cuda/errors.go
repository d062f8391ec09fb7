package cuda

import (
	"fmt"
	"strings"
)

// An UnavailableError says why there is no device to use.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return e.Reason }

// An Error is a call of the driver that failed. Code and Name are the driver's, as in 700 and
// CUDA_ERROR_ILLEGAL_ADDRESS; Kernel is the kernel that was launched or loaded, with its grid,
// and Detail what else is known, such as the log of a compilation.
type Error struct {
	Call   string
	Code   int
	Name   string
	Device string
	Kernel string
	Detail string
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.Kernel != "" {
		fmt.Fprintf(&b, "kernel %s: ", e.Kernel)
	}
	fmt.Fprintf(&b, "%s: %s (%d)", e.Call, e.Name, e.Code)
	if e.Device != "" {
		fmt.Fprintf(&b, " on %s", e.Device)
	}
	if hint := hints[e.Code]; hint != "" {
		b.WriteString(": " + hint)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Lost() && e.Kernel == "" {
		b.WriteString("; HECATE_GRAPHS=off waits for each kernel and names it")
	}
	return b.String()
}

// Lost reports whether the device cannot be used any more by this process.
func (e *Error) Lost() bool {
	switch e.Code {
	case codeIllegalAddress, codeLaunchTimeout, codeAssert, codeHardware, codeIllegalInstruction, codeMisaligned, codeInvalidAddressSpace, codeInvalidPC, codeLaunchFailed, codeECC:
		return true
	}
	return false
}

// Codes of the driver, from cuda.h.
const (
	codeOutOfMemory         = 2
	codeNoDevice            = 100
	codeNoBinary            = 209
	codeECC                 = 214
	codeInvalidPTX          = 218
	codeUnsupportedPTX      = 222
	codeInvalidSource       = 300
	codeNotFound            = 500
	codeIllegalAddress      = 700
	codeLaunchResources     = 701
	codeLaunchTimeout       = 702
	codeAssert              = 710
	codeHardware            = 714
	codeIllegalInstruction  = 715
	codeMisaligned          = 716
	codeInvalidAddressSpace = 717
	codeInvalidPC           = 718
	codeLaunchFailed        = 719
)

// hints say what a user can do.
var hints = map[int]string{
	codeOutOfMemory:    "the device has too little memory free",
	codeNoBinary:       "the image is for other devices",
	codeInvalidPTX:     "the image is damaged",
	codeUnsupportedPTX: "the driver is older than the image; a newer driver is needed",
	codeInvalidSource:  "the image is damaged",
	codeIllegalAddress: "the kernel went outside its memory; the device is lost to this process",
	codeLaunchFailed:   "the kernel failed; the device is lost to this process",
}
