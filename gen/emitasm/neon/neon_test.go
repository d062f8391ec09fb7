package neon

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEncodings compares the bits of every instruction with those of the GNU assembler. It
// is skipped where there is none, and fails where HECATE_REQUIRE contains "aarch64".
func TestEncodings(t *testing.T) {
	const as = "aarch64-linux-gnu-as"
	if _, err := exec.LookPath(as); err != nil {
		if strings.Contains(os.Getenv("HECATE_REQUIRE"), "aarch64") {
			t.Fatal(err)
		}
		t.Skip("there is no assembler for arm64: ", err)
	}
	var text strings.Builder
	for _, x := range Instructions {
		for _, r := range [][3]int{{0, 0, 0}, {31, 0, 0}, {0, 31, 0}, {0, 0, 31}, {17, 10, 5}} {
			want := [3]int{}
			for i, operand := range []string{"vM", "vN", "D"} {
				if x.has(operand) {
					want[i] = r[i]
				}
			}
			fmt.Fprintf(&text, "%s\n.inst 0x%08x\n", x.Assembly(want[0], want[1], want[2]), x.Encode(want[0], want[1], want[2]))
		}
	}
	dir := t.TempDir()
	in, out, flat := filepath.Join(dir, "in.s"), filepath.Join(dir, "out.o"), filepath.Join(dir, "flat")
	if err := os.WriteFile(in, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{{as, "-o", out, in}, {"aarch64-linux-gnu-objcopy", "-O", "binary", "-j", ".text", out, flat}} {
		if message, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, message)
		}
	}
	words, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(text.String()), "\n")
	if len(words) != 4*len(lines) {
		t.Fatalf("%d bytes for %d instructions", len(words), len(lines))
	}
	for i := 0; i < len(lines); i += 2 {
		if string(words[4*i:4*i+4]) != string(words[4*i+4:4*i+8]) {
			t.Errorf("%s is not %s but %x", lines[i], lines[i+1], words[4*i:4*i+4])
		}
	}
}
