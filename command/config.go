package command

import (
	"fmt"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/spf13/cobra"
)

// configCommand is `hecate config`.
func configCommand(maker engine.Maker) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "Print what a configuration can say, or what one says"}
	printer := func(name, short string, text func() string) {
		c.AddCommand(&cobra.Command{Use: name, Short: short, Args: none, RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), text())
			return err
		}})
	}
	printer("init", "Print a file with every key at its default, and what it means", config.Starter)
	printer("keys", "List every key with its type, default, range and meaning", config.Help)
	printer("schema", "Print the JSON schema of a configuration, for editors", func() string { return string(config.Schema()) })
	var s settings
	resolved := &cobra.Command{
		Use: "show [-c run.toml] [flags]", Short: "Print the resolved configuration, every key of it",
		Long: "Print the resolved configuration, every key of it. Read again, it says the same.", Args: none,
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
