package command

import (
	"embed"
	"fmt"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/spf13/cobra"
)

// presetFiles are configurations for common purposes. Each begins with a comment that says
// its purpose, and what it reached when make presets built it.
//
//go:embed presets/*.toml
var presetFiles embed.FS

// presetNames are the presets, the smallest first.
var presetNames = []string{"tiny", "small", "medium", "long-context", "streaming"}

// preset is the file of a preset. The error is one of the command line.
func preset(name string) ([]byte, error) {
	data, err := presetFiles.ReadFile("presets/" + name + ".toml")
	if err != nil {
		return nil, misuse{fmt.Errorf("there is no preset %q; %s", name, config.DidYouMean(name, presetNames))}
	}
	return data, nil
}

// aboutPreset is the comment of a preset, a line for each.
func aboutPreset(data []byte) (lines []string) {
	for line := range strings.Lines(string(data)) {
		text, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(text))
	}
	return lines
}

// presetsCommand is `hecate presets`.
func presetsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "presets [NAME]", Short: "List the presets of hecate build, or print one",
		Long: `List the presets of hecate build with what they reach, or print the configuration
of one. hecate build --preset NAME uses it; flags override its keys.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: cobra.FixedCompletions(presetNames, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(c *cobra.Command, args []string) error {
			names := presetNames
			if len(args) == 1 {
				names = args
			}
			for _, name := range names {
				data, err := preset(name)
				if err != nil {
					return err
				}
				text := string(data)
				if len(args) == 0 {
					text = name + "\n    " + strings.Join(aboutPreset(data), "\n    ") + "\n"
				}
				if _, err := fmt.Fprint(c.OutOrStdout(), text); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
