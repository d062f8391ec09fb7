// Command hecate builds models from the library's generated code, and runs and inspects
// what was built. `hecate help` lists the commands.
package main

import (
	"os"

	"github.com/nl-hecate/hecate/command"
	"github.com/nl-hecate/hecate/generated/registry"
)

func main() { os.Exit(command.Main(registry.All())) }
