package machine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cpu"
)

func TestLook(t *testing.T) {
	was := cpu.Active()
	m := Look()
	if cpu.Active() != was {
		t.Errorf("looking changed the level from %v to %v", was, cpu.Active())
	}
	active := 0
	for _, l := range m.Levels {
		if l.Active {
			active++
			if l.Name != was.String() || l.Why != "" {
				t.Errorf("%+v is active, want %v", l, was)
			}
		}
	}
	if active != 1 || len(m.Levels) != len(cpu.Targets()) || m.Cores < 1 || m.Levels[0].Why != "" {
		t.Errorf("%+v", m)
	}
	if s := m.String(); !strings.Contains(s, "chosen") || strings.Contains(s, " \n") {
		t.Errorf("printed:\n%s", s)
	}
}

// TestCaches reads a folder as Linux has it; what is no cache is left out.
func TestCaches(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"index0/level": "1\n", "index0/type": "Data\n", "index0/size": "48K\n", "index0/shared_cpu_list": "0-1\n", "index1/level": "x\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := caches(dir)
	if len(got) != 1 || got[0] != (Cache{1, "data", "48K", "0-1"}) {
		t.Errorf("%+v", got)
	}
}
