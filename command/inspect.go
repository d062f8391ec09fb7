package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/nl-hecate/hecate/command/internal/inspect"
	"github.com/nl-hecate/hecate/runtime/catalog"
	"github.com/spf13/cobra"
)

// inspectCommand is `hecate inspect`.
func inspectCommand(pages *catalog.Catalog) *cobra.Command {
	var diff, asJSON bool
	c := &cobra.Command{
		Use:   "inspect CHECKPOINT | inspect --diff A B",
		Short: "Show a checkpoint, or the differences between two",
		Long: `Show a checkpoint: its metadata, the precision map of its model, and the type, shape,
norm and digest of every tensor. With --diff, show the differences between two.

Exit status: 0 the checkpoint is intact, or the two are equal; 1 it is damaged, or
they differ; 2 a file cannot be read.`,
		Args: func(c *cobra.Command, args []string) error {
			if diff {
				return exactly(2, "two checkpoints")(c, args)
			}
			return exactly(1, "a checkpoint")(c, args)
		},
		ValidArgsFunction: completeCheckpoints,
		RunE: func(c *cobra.Command, args []string) error {
			var files []*inspect.File
			for _, path := range args {
				f, err := inspect.Read(path, pages)
				if err != nil {
					return misuse{err} // status 2, as of diff
				}
				files = append(files, f)
			}
			if diff {
				d := inspect.Compare(files[0], files[1])
				return show(c.OutOrStdout(), d, asJSON, d.Same())
			}
			return show(c.OutOrStdout(), files[0], asJSON, !files[0].Damaged)
		},
	}
	c.Flags().BoolVar(&diff, "diff", false, "compare two checkpoints")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// show prints x; the exit status is 1 unless well.
func show(w io.Writer, x fmt.Stringer, asJSON, well bool) error {
	err := error(nil)
	if asJSON {
		err = printJSON(w, x)
	} else {
		_, err = fmt.Fprint(w, x)
	}
	if !well {
		err = errors.Join(err, status(bad))
	}
	return err
}

// printJSON prints one object, indented.
func printJSON(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(x)
}

// printLine prints one object on a line.
func printLine(w io.Writer, x any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(x)
}
