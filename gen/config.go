package gen

import (
	"path/filepath"

	"github.com/nl-hecate/hecate/gen/abi"
	"github.com/nl-hecate/hecate/gen/emitcuda"
	"github.com/nl-hecate/hecate/gen/source"
	"github.com/nl-hecate/hecate/gen/tree"
)

// LibraryModule is the import path of the library: the runtime, the code that all kernels
// share, and the code of the library's own pages.
const LibraryModule = "github.com/nl-hecate/hecate"

// libraryHome is the place of the code of the library's pages.
var libraryHome = abi.Home{Path: LibraryModule + "/generated", Folder: "generated"}

// NoCUDA as the folder of the CUDA text leaves that target out.
const NoCUDA = "-"

// A Config describes a project: its pages and the folders of the generated code.
type Config struct {
	Root    string         // folder of the module that the files belong to
	Specs   []string       // files and folders of its pages
	Go      string         // folder of the generated Go under the root; "" is generated
	Import  string         // import path of that folder; "" is the library's
	CUDA    string         // folder of the CUDA text under the root; "" is cuda/kernels, NoCUDA none
	NoText  bool           // the CUDA text is in the archive of the kernels alone
	Former  string         // folder under the root that was the CUDA text's; "" for none
	Library []*source.File // pages that the library has compiled already; empty for the library itself

	Cache string      // folder for results of earlier runs; "" computes everything
	Seen  func(Event) // is told what is done, one event at a time; may be nil
	Stats *Stats      // is told what each pass takes; may be nil
}

// home is where the code of the project's own units goes.
func (c Config) home() abi.Home {
	h := libraryHome
	if c.Import != "" {
		h.Path = c.Import
	}
	if c.Go != "" {
		h.Folder = filepath.ToSlash(c.Go)
	}
	return h
}

// CUDAFolder is the folder of the CUDA text, "" for none.
func (c Config) CUDAFolder() string {
	switch {
	case c.CUDA == NoCUDA || c.NoText:
		return ""
	case c.CUDA == "":
		return emitcuda.Folder
	}
	return filepath.ToSlash(c.CUDA)
}

// owned are the folders under the root that the compiler writes, and nothing else
// does.
func (c Config) owned() []string {
	out := []string{c.home().Folder}
	if dir := c.CUDAFolder(); dir != "" {
		out = append(out, dir)
	}
	if c.Former != "" && tree.Holds(c.Root, c.Former) {
		out = append(out, c.Former)
	}
	return out
}
