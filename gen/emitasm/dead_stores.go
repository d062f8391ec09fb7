package emitasm

import "strconv"

// Most scalars are read from the register that they were computed in. A slot that
// no instruction of a function reads need not be written.

// dropDeadStores drops the stores to slots that nothing reads.
func dropDeadStores(t *target, lines []string) []string {
	read := map[int]bool{} // by each fourth byte
	for _, l := range lines {
		if t.wholeStore.MatchString(l) {
			continue
		}
		for _, m := range t.slotAt.FindAllStringSubmatch(l, -1) {
			at, _ := strconv.Atoi(m[1])
			n := 64
			if t.single.MatchString(l) {
				n = 4
			}
			for i := at / 4; i < (at+n)/4; i++ {
				read[i] = true
			}
		}
	}
	var out []string
	for _, l := range lines {
		if m := t.wholeStore.FindStringSubmatch(l); m != nil {
			at, _ := strconv.Atoi(m[1])
			needed := false
			for i := at / 4; i < at/4+t.width; i++ {
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

// outOfFrame finds an instruction that reads or writes beyond the slots.
func outOfFrame(t *target, lines []string, slots int) string {
	for _, l := range lines {
		for _, m := range t.slotAt.FindAllStringSubmatch(l, -1) {
			n := 4
			if !t.single.MatchString(l) {
				n = t.bytes(l)
			}
			if at, _ := strconv.Atoi(m[1]); at+n > slots {
				return l
			}
		}
	}
	return ""
}
