package command

import (
	"fmt"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/spf13/cobra"
)

// configCommand is `hecate config`.
func configCommand(maker engine.Maker) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Print the keys of a configuration, or a resolved one"}
	printer := func(name, short string, text func() string) {
		c.AddCommand(&cobra.Command{Use: name, Short: short, Args: none, RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), text())
			return err
		}})
	}
	printer("init", "Print a configuration file with every key, its default and its meaning", config.Starter)
	printer("keys", "List every key with its type, default, range and meaning", config.Help)
	printer("schema", "Print the JSON schema of a configuration, for editors", func() string { return string(config.Schema()) })
	var s settings
	resolved := &cobra.Command{
		Use: "show [-c run.toml] [flags]", Short: "Print the resolved configuration with every key",
		Long: "Print the resolved configuration with every key, as a file that config show prints unchanged.", Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			conf, err := s.load(maker)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(c.OutOrStdout(), config.Format(conf.Config))
			return err
		},
	}
	s.flags(resolved, maker)
	c.AddCommand(resolved)
	return c
}
