package command

import (
	"errors"
	"fmt"
	"os"

	"github.com/nl-hecate/hecate/command/internal/progress"
	"github.com/nl-hecate/hecate/runtime/stream"
	"github.com/nl-hecate/hecate/runtime/tokenizer"
	"github.com/spf13/cobra"
)

// tokenization is the options of `hecate tokenize`.
type tokenization struct {
	tokenizer string
	build     int
	out       string
	separator string
	split     string
}

// tokenizeCommand is `hecate tokenize`.
func tokenizeCommand() *cobra.Command {
	var t tokenization
	c := &cobra.Command{
		Use: "tokenize TEXT… --tokenizer tokenizer.json [--build N] [-o tokens]", Short: "Convert text to a file of tokens, or build a tokenizer from it",
		Long: `Convert text to a file of tokens that a build reads (stream.kind = "tokens").
With --build, first make a byte-pair encoding with this number of ids from the text
and write it to --tokenizer, which must not exist. The same text produces the same
files.`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return misuse{errors.New("want one text or more")}
			case t.tokenizer == "":
				return misuse{errors.New("--tokenizer is not given")}
			case t.build == 0 && t.out == "":
				return misuse{errors.New("neither --build nor -o is given")}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			said, err := t.run(args)
			if err == nil {
				_, err = fmt.Fprint(c.OutOrStdout(), said)
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&t.tokenizer, "tokenizer", "", "`file` of the tokenizer")
	f.IntVar(&t.build, "build", 0, "make a tokenizer with this `number` of ids")
	f.StringVar(&t.split, "split", "gpt2", "with --build: `rule` that splits text before bytes are merged: gpt2, cl100k, digits or o200k")
	f.StringVarP(&t.out, "out", "o", "", "`file` for the tokens")
	f.StringVar(&t.separator, "separator", "", "`text` between two documents; without it a file is one document")
	return c
}

// run makes the files and describes them.
func (t tokenization) run(paths []string) (said string, err error) {
	text, err := stream.OpenText(stream.TextOptions{Separator: []byte(t.separator)}, paths...)
	if err != nil {
		return "", fmt.Errorf("text: %w", err)
	}
	var bpe *tokenizer.BPE
	if t.build == 0 {
		if bpe, err = tokenizer.Open(t.tokenizer); err != nil {
			return "", fmt.Errorf("tokenizer: %w", err)
		}
	} else if bpe, err = t.make(text); err != nil {
		return "", err
	} else {
		said = fmt.Sprintf("%s: %s ids\n", t.tokenizer, progress.Count(bpe.Vocab()))
	}
	if t.out == "" {
		return said, nil
	}
	tokens, err := tokenizer.Tokens(bpe, text)
	if err != nil {
		return said, err
	}
	if _, err = stream.WriteTokens(t.out, tokens, bpe.Digest()); err != nil {
		return said, err
	}
	return said + fmt.Sprintf("%s: %s tokens of %s bytes\n", t.out, progress.Count(tokens.Len()), progress.Count(text.Len())), nil
}

// make builds a tokenizer and writes it to a new file.
func (t tokenization) make(text *stream.Text) (*tokenizer.BPE, error) {
	if _, err := os.Stat(t.tokenizer); !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(err, fmt.Errorf("%s already exists", t.tokenizer))
	}
	split := tokenizer.Uncut
	for s := tokenizer.GPT2; s <= tokenizer.O200K; s++ {
		if s.String() == t.split {
			split = s
		}
	}
	if split == tokenizer.Uncut {
		return nil, misuse{fmt.Errorf("--split is %q, must be one of gpt2, cl100k, digits, o200k", t.split)}
	}
	bpe, err := tokenizer.Build(tokenizer.Options{Vocab: t.build, Split: split}, stream.Whole(text).Bytes())
	if err != nil {
		return nil, fmt.Errorf("tokenizer: %w", err)
	}
	return bpe, bpe.Save(t.tokenizer)
}
