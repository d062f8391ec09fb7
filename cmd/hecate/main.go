// Command hecate builds models from the library's generated code, and runs and inspects
// what was built. `hecate help` lists the commands.
package main

import (
	"embed"
	"os"

	"github.com/nl-hecate/hecate/command"
	"github.com/nl-hecate/hecate/generated/registry"
)

func main() { os.Exit(command.Main(registry.All().WithImages(compiled()))) }

// images holds images.zip, where make cuda has written it.
//
//go:embed images
var images embed.FS

// compiled is the file of images, nil where there is none.
func compiled() []byte {
	data, err := images.ReadFile("images/images.zip")
	if err != nil {
		return nil
	}
	return data
}
