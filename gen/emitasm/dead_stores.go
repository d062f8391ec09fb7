package emitasm

import (
	"regexp"
	"strconv"
	"strings"
)

// Most scalars are read from the register that they were computed in. A slot that
// no instruction of a function reads need not be written.

// slotAt is an operand in the slots, and wholeStore a store of a vector there.
var (
	slotAt     = regexp.MustCompile(`\b(\d+)\(R13\)`)
	wholeStore = regexp.MustCompile(`^VMOVUPS ([YZ])\d+, (\d+)\(R13\)$`)
)

// dropDeadStores drops the stores to slots that nothing reads.
func dropDeadStores(lines []string) []string {
	read := map[int]bool{} // by each fourth byte
	for _, l := range lines {
		if wholeStore.MatchString(l) {
			continue
		}
		for _, m := range slotAt.FindAllStringSubmatch(l, -1) {
			at, _ := strconv.Atoi(m[1])
			for i := at / 4; i < (at+readBytes(l))/4; i++ {
				read[i] = true
			}
		}
	}
	var out []string
	for _, l := range lines {
		if m := wholeStore.FindStringSubmatch(l); m != nil {
			at, _ := strconv.Atoi(m[2])
			needed := false
			for i := at / 4; i < (at+map[string]int{"Y": 32, "Z": 64}[m[1]])/4; i++ {
				needed = needed || read[i]
			}
			if !needed {
				continue
			}
		}
		out = append(out, l)
	}
	return out
}

// readBytes is how much an instruction may read of a slot.
func readBytes(line string) int {
	if strings.HasPrefix(line, "VBROADCASTSS ") || strings.HasPrefix(line, "VMOVSS ") || strings.Contains(line, ".BCST ") {
		return 4
	}
	return 64
}

// outOfFrame finds an instruction that reads or writes beyond the slots.
func outOfFrame(lines []string, slots int) string {
	for _, l := range lines {
		for _, m := range slotAt.FindAllStringSubmatch(l, -1) {
			if at, _ := strconv.Atoi(m[1]); at+vectorBytes(l) > slots {
				return l
			}
		}
	}
	return ""
}

// vectorBytes is how much an instruction reads or writes of a slot.
func vectorBytes(line string) int {
	switch {
	case readBytes(line) == 4:
		return 4
	case strings.Contains(line, "Z"):
		return 64
	case strings.Contains(line, "Y"):
		return 32
	}
	return 4
}
