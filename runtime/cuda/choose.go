package cuda

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Targets are the machines for which images are made: PTX for compute capability 8.0, which a driver
// translates for any later GPU, and machine code.
var Targets = []string{"compute_80", "sm_80", "sm_86", "sm_89", "sm_90"}

// A Choice is the target of the image that a device takes, "" where none fits, and why.
type Choice struct{ Target, Why string }

// Choose chooses an image for a device from the targets for which there are images, made by a version of NVRTC:
// machine code of the device; that of the nearest lower minor version of the same major one; PTX, where the
// driver is as new as the compiler. Machine code needs a driver of the compiler's major version or a later one
// (CUDA Compatibility, Minor Version Compatibility). Machine code for desktop GPUs does not run on a Tegra, nor the
// other way round (CUDA C++ Programming Guide, Binary Compatibility).
func Choose(i Info, have []string, version string) Choice {
	own := 10*i.Major + i.Minor
	best, found := -1, ""
	compiler, driver := numbers(version), numbers(i.Driver)
	if len(have) > 0 && compiler[0] > driver[0] {
		return Choice{"", fmt.Sprintf("images of NVRTC %s need a driver for CUDA %d, this one is for %s", version, compiler[0], i.Driver)}
	}
	for _, t := range have {
		if n, ok := capability(t, "sm_"); ok && n/10 == i.Major && n <= own && (n == own || tegra(n) == tegra(own)) && n > best {
			best, found = n, t
		}
	}
	switch {
	case best == own:
		return Choice{found, "machine code of this GPU"}
	case best >= 0:
		return Choice{found, fmt.Sprintf("sm_%d runs machine code of sm_%d", own, best)}
	}
	for _, t := range have {
		if n, ok := capability(t, "compute_"); ok && n <= own && n > best {
			best, found = n, t
		}
	}
	switch {
	case best >= 0 && slices.Compare(compiler[:], driver[:]) > 0:
		return Choice{"", fmt.Sprintf("PTX of NVRTC %s needs a driver for CUDA %s, this one is for %s", version, version, i.Driver)}
	case best >= 0:
		return Choice{found, fmt.Sprintf("there is no machine code for sm_%d; the driver translates PTX", own)}
	case len(have) == 0:
		return Choice{"", "there is no image with these sizes"}
	}
	return Choice{"", fmt.Sprintf("sm_%d runs none of %s", own, strings.Join(slices.Sorted(slices.Values(have)), ", "))}
}

// IsTarget reports whether a word is a target: sm_ or compute_ and a compute capability, as in sm_90.
func IsTarget(word string) bool {
	_, machine := capability(word, "sm_")
	_, ptx := capability(word, "compute_")
	return machine || ptx
}

// capability is the compute capability of a target, ten times.
func capability(target, kind string) (n int, ok bool) {
	text, ok := strings.CutPrefix(target, kind)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 10
}

// tegra reports whether a compute capability is that of a Tegra, an integrated GPU.
func tegra(capability int) bool {
	return slices.Contains([]int{53, 62, 72, 87, 101, 110}, capability)
}

// numbers are those of a version, as in 12.8.
func numbers(version string) (n [2]int) {
	major, minor, _ := strings.Cut(version, ".")
	n[0], _ = strconv.Atoi(major)
	n[1], _ = strconv.Atoi(minor)
	return n
}
