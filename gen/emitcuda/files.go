package emitcuda

import (
	"strings"

	"github.com/nl-hecate/hecate/gen/plan"
)

// Folder is where the CUDA text of a project lies unless it says otherwise, under its
// root.
const Folder = "cuda/kernels"

// segment is the number of tokens from checkpoint to checkpoint in it.
const segment = 64

// standard are the sizes of the committed text, by the letters that pages give
// them. Another size is another text.
var standard = map[string]int{"d": 256, "H": 4, "V": 256, "n_p": 16}

// otherSize is the size of every letter that the table does not have.
const otherSize = 64

// Unit prints the kernels of a unit, by path under the folder of the CUDA text, and
// their rows of the manifest.
func Unit(u *plan.Unit) (files map[string][]byte, rows []string) {
	files = map[string][]byte{}
	for _, k := range kernels(u) {
		text := Kernel(k, About{Unit: u.ID, Page: u.Page, Equations: u.Equations}, Standard(u, k))
		file := File(u, k)
		files[file] = []byte(text.Code)
		rows = append(rows, rowOf(u, text, file).text())
	}
	return files, rows
}

// Manifest is the table of the rows of all units, a file of JSON.
func Manifest(rows []string) []byte {
	return []byte("{\"kernels\": [\n" + strings.Join(rows, ",\n") + "\n]}\n")
}

// File is the path of a kernel's text under the folder of the CUDA text.
func File(u *plan.Unit, k *plan.Kernel) string {
	return u.ID + "/" + strings.TrimPrefix(fileName(k.Name), fileName(u.ID)+"_") + ".cu"
}

// kernels lists the kernels of a unit in order.
func kernels(u *plan.Unit) []*plan.Kernel {
	var out []*plan.Kernel
	for _, s := range u.Stages {
		for _, p := range []plan.Pair{s.Pair, s.Frozen, s.Start} {
			if p.Fwd != nil {
				out = append(out, p.Fwd)
			}
			if p.Bwd != nil {
				out = append(out, p.Bwd)
			}
		}
	}
	return out
}

// Standard are the constants of a kernel's committed text: what the page says
// for a size that may be left out, else the standard size of its letter.
func Standard(u *plan.Unit, k *plan.Kernel) map[string]int {
	out := map[string]int{}
	for _, s := range k.Sizes {
		if Open(u, s) {
			continue
		}
		out[s] = otherSize
		if n, ok := standard[s]; ok {
			out[s] = n
		}
		if s == k.Segment {
			out[s] = segment
		}
		for _, z := range u.Sizes {
			if z.Name == s && z.Default > 0 {
				out[s] = z.Default
			}
		}
	}
	return out
}
