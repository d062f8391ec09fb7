package cuda

import (
	"fmt"

	"github.com/nl-hecate/hecate/runtime/device"
)

// An Info describes a device.
type Info struct {
	Index      int    `json:"index"`
	Name       string `json:"name"`
	Major      int    `json:"major"` // compute capability
	Minor      int    `json:"minor"`
	Driver     string `json:"driver"` // the newest CUDA that the driver knows, as in 12.8
	Memory     int64  `json:"memory"` // bytes
	Processors int    `json:"multiprocessors"`
	Shared     int    `json:"shared_memory"` // bytes that a block can ask for
}

// Target is the machine of a device, as in sm_90.
func (i Info) Target() string { return fmt.Sprintf("sm_%d%d", i.Major, i.Minor) }

func (i Info) String() string {
	return fmt.Sprintf("cuda:%d %s (%s, %.1f GiB, CUDA %s)", i.Index, i.Name, i.Target(), float64(i.Memory)/(1<<30), i.Driver)
}

// An Opened is a device with its memory.
type Opened struct {
	Memory device.Memory
	Info   Info
	Free   func() (free, total int64, err error) // of the device's memory, in bytes
	Close  func() error
}

// Ceilings are the measured peak rates of a device.
type Ceilings struct {
	Device    Info
	Copy      float64 // bytes per second, read and written, of copies within the device
	Product   float64 // FLOP per second of a product of float32 matrices by cuBLAS; 0 if it was not measured
	NoProduct string  // why there is no such number
}

// A Grid is the shape of a launch: blocks, threads of a block, and bytes of dynamic shared
// memory.
type Grid struct{ Blocks, Threads, Shared int }

// An Address is memory of a device; 0 is none.
type Address uint64

// An Arg is an argument of a kernel.
type Arg struct {
	bits    uint64
	pointer bool
}

// Pointer is an address as an argument.
func Pointer(a Address) Arg { return Arg{uint64(a), true} }

// Int is a 32-bit integer as an argument.
func Int(n int) Arg { return Arg{uint64(uint32(int32(n))), false} }
