package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/nl-hecate/hecate/command/internal/config"
	"github.com/nl-hecate/hecate/command/internal/drive"
	"github.com/nl-hecate/hecate/command/internal/engine"
	"github.com/spf13/cobra"
)

const buildLong = `Build a model on a text.

It streams the text through the model in batches and updates the parameters after
each chunk; context memory is carried from chunk to chunk, and each level of the
model is updated at its own frequency. Checkpoints, a log, plots and a sample are written
into a folder. SIGINT and SIGTERM end a build early and save it; --time-limit does
so too, and measures it; --resume continues it, bit for bit.

hecate config keys lists all keys of a configuration.`

// buildCommand is `hecate build`; args is the whole command line.
func buildCommand(maker engine.Maker, args []string) *cobra.Command {
	var s settings
	var dry, profile bool
	c := &cobra.Command{
		Use: "build [-c run.toml | --preset NAME] [flags]", Short: "Build a model on a text", Long: buildLong, Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			conf, err := s.load(maker)
			if err != nil {
				return err
			}
			conf.Report.Profile = conf.Report.Profile || profile
			return runBuild(c, maker, conf, dry, args)
		},
	}
	s.flags(c, maker)
	c.Flags().BoolVar(&profile, "profile", false, "at the end print the time of each unit and operation (report.profile)")
	c.Flags().BoolVar(&dry, "dry-run", false, "print the resolved configuration and the memory that the build needs, and write nothing")
	return c
}

// none accepts no arguments.
func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return misuse{fmt.Errorf("%s: unexpected argument %s", c.Name(), args[0])}
	}
	return nil
}

// runBuild makes the builder and drives it.
func runBuild(c *cobra.Command, maker engine.Maker, conf *config.Loaded, dry bool, args []string) error {
	stem := drive.StemOf(cmp.Or(conf.Build.Name, conf.Model.Formula))
	again := withoutResume(args)
	r := &drive.Run{Config: &conf.Config, Files: drive.Files{Dir: conf.Build.Out, Stem: stem}, Again: again, Resume: again + " --resume"}
	resume, err := resumeFrom(maker, conf, r)
	if err != nil {
		return err
	}
	r.Resumed = resume
	if r.Builder, err = maker.NewBuilder(conf, resume); err != nil {
		return err
	}
	if dry {
		return errors.Join(account(c.OutOrStdout(), conf, r.Builder), r.Builder.Close())
	}
	return drive.Build(c.Context(), r, c.OutOrStdout())
}

// resumeFrom is the checkpoint that the build resumes from, "" for none.
func resumeFrom(maker engine.Maker, conf *config.Loaded, r *drive.Run) (string, error) {
	switch conf.Build.Resume {
	case "never":
		return "", nil
	case "auto":
		path, err := r.Files.Newest(maker.Steps,
			func(path string, err error) {
				r.Say("resume", "%s is not a valid checkpoint: %s", path, strings.TrimPrefix(err.Error(), path+": "))
			})
		if err == nil && path == "" {
			r.Say("resume", "no valid checkpoint in %s, starting a new build", r.Files.Dir)
		} else if err == nil {
			r.Say("resume", "resuming from %s", path)
		}
		return path, err
	}
	return conf.Build.Resume, nil
}

// withoutResume is the command line of this build as a new one.
func withoutResume(args []string) string {
	words := []string{"hecate"}
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--resume":
			i++
		case strings.HasPrefix(args[i], "--resume="):
		default:
			words = append(words, args[i])
		}
	}
	return drive.Command(words...)
}

// account prints the configuration of a build and its resources.
func account(w io.Writer, conf *config.Loaded, b engine.Builder) error {
	arena, err := b.Arena()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n%s", config.Format(conf.Config), drive.Account(b.Info(), &conf.Config, arena))
	return err
}
