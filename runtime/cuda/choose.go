package cuda

import (
	"fmt"
	"slices"
	"strings"
)

// Targets are the machines for which images are made: PTX for compute capability 8.0, which a driver
// translates for any later GPU, and machine code.
var Targets = []string{"compute_80", "sm_80", "sm_86", "sm_89", "sm_90"}

// A Choice is the target of the image that a device takes, "" where none fits, and why.
type Choice struct{ Target, Why string }

// Choose chooses an image for a device from the targets for which there are images, made by a version of NVRTC:
// machine code of the device; that of the nearest lower minor version of the same major one; PTX, where the
// driver is as new as the compiler. Machine code for the GPU of a computer does not run on a Tegra, nor
// the other way round (CUDA C++ Programming Guide, Binary Compatibility).
func Choose(i Info, have []string, version string) Choice {
	own := 10*i.Major + i.Minor
	best := -1
	for _, t := range have {
		if n, ok := capability(t, "sm_"); ok && n/10 == i.Major && n <= own && (n == own || tegra(n) == tegra(own)) {
			best = max(best, n)
		}
	}
	switch {
	case best == own:
		return Choice{i.Target(), "machine code of this GPU"}
	case best >= 0:
		return Choice{fmt.Sprintf("sm_%d", best), fmt.Sprintf("sm_%d runs machine code of sm_%d", own, best)}
	}
	for _, t := range have {
		if n, ok := capability(t, "compute_"); ok && n <= own {
			best = max(best, n)
		}
	}
	switch {
	case best >= 0 && newer(version, i.Driver):
		return Choice{"", fmt.Sprintf("PTX of NVRTC %s needs a driver for CUDA %s, this one is for %s", version, version, i.Driver)}
	case best >= 0:
		return Choice{fmt.Sprintf("compute_%d", best), fmt.Sprintf("there is no machine code for sm_%d; the driver translates PTX", own)}
	case len(have) == 0:
		return Choice{"", "there is no image with these sizes"}
	}
	slices.Sort(have)
	return Choice{"", fmt.Sprintf("sm_%d runs none of %s", own, strings.Join(have, ", "))}
}

// capability is the compute capability of a target, ten times.
func capability(target, kind string) (n int, ok bool) {
	text, ok := strings.CutPrefix(target, kind)
	if !ok {
		return 0, false
	}
	_, err := fmt.Sscanf(text, "%d", &n)
	return n, err == nil
}

// tegra reports whether a compute capability is that of GPUs on one chip with a processor.
func tegra(capability int) bool {
	return slices.Contains([]int{53, 62, 72, 87, 101, 110}, capability)
}

// newer reports whether version a, as in 12.8, is newer than b.
func newer(a, b string) bool {
	var x, y [2]int
	fmt.Sscanf(a, "%d.%d", &x[0], &x[1])
	fmt.Sscanf(b, "%d.%d", &y[0], &y[1])
	return slices.Compare(x[:], y[:]) > 0
}
