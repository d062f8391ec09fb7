// Package cpu chooses, once at start, how the fast kernels compute.
//
// There are two arithmetics. In the portable one every product is rounded
// before it is added; it is that of package num, and plain Go everywhere. In
// the fma one a product and a sum are one fused operation with one rounding;
// it has four targets with equal bits: a Go twin, NEON on arm64, AVX2 and AVX-512 on amd64. Checkpoints
// name the arithmetic, kernels read the target.
//
// The target is the best one that the CPU and its operating system support. The
// environment variable HECATE_CPU forces another: portable, fma, neon, avx2 or
// avx512. The build tag purego leaves all assembly out, as does a machine that
// has none here; the best target is then the portable one.
package cpu

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// A Target is a way to compute. Of those that a machine has, a greater one is faster.
type Target uint8

const (
	_        Target = iota
	Portable        // products rounded before they are added, in Go
	FMA             // fused multiply-adds, in Go: exact, and slow
	NEON            // fused multiply-adds, 4 float32 at once, two such vectors for one of AVX2
	AVX2            // fused multiply-adds, 8 float32 at once
	AVX512          // fused multiply-adds, 16 float32 at once
)

// Env is the environment variable that forces a target.
const Env = "HECATE_CPU"

var names = [...]string{Portable: "portable", FMA: "fma", NEON: "neon", AVX2: "avx2", AVX512: "avx512"}

// String is the target's name, as in HECATE_CPU.
func (l Target) String() string {
	if l < Portable || l > AVX512 {
		return fmt.Sprintf("Target(%d)", uint8(l))
	}
	return names[l]
}

// Targets are all, whether this machine has them or not.
func Targets() (out []Target) {
	for l := Portable; l <= AVX512; l++ {
		out = append(out, l)
	}
	return out
}

// Vector reports whether a target computes on vectors, in assembly.
func (l Target) Vector() bool { return l > FMA }

// Arithmetic names the bits that a target computes, "portable" or "fma".
func (l Target) Arithmetic() string {
	if l >= FMA {
		return FMA.String()
	}
	return Portable.String()
}

// Version is that of both arithmetics. It is raised when programs are compiled to other
// roundings, so that a checkpoint never goes on with other bits than it was written by:
//
//	2  What the front of a rule computes is a function of its own. An adjoint of a series
//	   is summed on each side of the call, and a multiply-add is not fused across it.
//	3  A call computes several sequences, and their gradients are summed in its order; the
//	   error function has steps of its own in the fused arithmetic.
//	4  Short sums are written out, sums over concatenations are one for each part, and
//	   products and few entries are added in the memory of their sum.
//	5  Factors |x|·sign(x) are x, a softmax is multiplied by the inverse of its sum, and a
//	   backward reads states from its replay that it computed in another order.
//	6  A sum of products over a window, such as the scores of attention, adds its products in
//	   turn and no longer in partial sums.
const Version = 6

// Bits names the bits that a target computes in this version, such as "fma/6".
func (l Target) Bits() string { return l.Arithmetic() + "/" + strconv.Itoa(Version) }

// features are what decides. The wide ones include that the operating system
// saves the wide registers.
type features struct {
	neon     bool // always there where it is built in
	assembly bool // built in
	avx2     bool // with FMA
	avx512   bool // F, DQ, VL and BW
}

// has reports whether a target can run.
func (f features) has(l Target) bool {
	switch l {
	case AVX512:
		return f.assembly && f.avx512 && f.avx2
	case AVX2:
		return f.assembly && f.avx2
	case NEON:
		return f.assembly && f.neon
	}
	return l == Portable || l == FMA
}

// best is the target without any wish. The twin is for tests: it is never best.
func (f features) best() Target {
	for l := AVX512; l.Vector(); l-- {
		if f.has(l) {
			return l
		}
	}
	return Portable
}

// choose is the target for a value of HECATE_CPU, "" for none, and a line for
// the user where it is not the one that was asked for.
func choose(env string, f features) (Target, string) {
	if env == "" {
		return f.best(), ""
	}
	for _, l := range Targets() {
		if l.String() != env {
			continue
		}
		if got := f.next(l); got != l {
			return got, fmt.Sprintf("hecate: %s=%s: %s; running at target %s", Env, env, f.lacks(), got)
		}
		return l, ""
	}
	got := f.best()
	return got, fmt.Sprintf("hecate: %s=%q is not one of %s; running at target %s", Env, env, strings.Join(names[Portable:], ", "), got)
}

// next is a target, or where it cannot run the nearest with the same bits: on vectors,
// below it or else above it, or the twin.
func (f features) next(l Target) Target {
	near := []Target{l}
	for k := l - 1; k.Vector(); k-- {
		near = append(near, k)
	}
	for k := l + 1; k <= AVX512; k++ {
		near = append(near, k)
	}
	for _, k := range near {
		if f.has(k) {
			return k
		}
	}
	return FMA
}

// lacks says why a target cannot run.
func (f features) lacks() string {
	if !f.assembly {
		return "this program is built without assembly"
	}
	return "this CPU or its operating system lacks it"
}

// detected is what this machine has.
var detected = features{
	assembly: AMD64 || ARM64,
	neon:     ARM64,
	avx2:     cpu.X86.HasAVX2 && cpu.X86.HasFMA,
	avx512:   cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512BW,
}

var (
	active atomic.Uint32
	_      = start()
)

// start sets the target before anything that imports this package runs.
func start() Target {
	target, message := choose(os.Getenv(Env), detected)
	if message != "" {
		fmt.Fprintln(os.Stderr, message)
	}
	active.Store(uint32(target))
	return target
}

// Active is the target at which kernels run now. It costs one load.
func Active() Target { return Target(active.Load()) }

// Best is the target of this machine without HECATE_CPU.
func Best() Target { return detected.best() }

// Force makes a target the active one, for tests; restore brings back the one
// before. A target that cannot run here is an error and changes nothing. What
// computes meanwhile in other goroutines may see either target.
func Force(l Target) (restore func(), err error) {
	if !detected.has(l) {
		return func() {}, fmt.Errorf("cpu: target %s: %s", l, detected.lacks())
	}
	was := active.Swap(uint32(l))
	return func() { active.Store(was) }, nil
}
