//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"
)

// Images that NVRTC made are kept in the user's cache, under the hash of all that they follow
// from: text, header, sizes, machine and version of the compiler. An entry begins with the hash
// of its image; one that is damaged is made again.

// image returns the image of a kernel with sizes for a device, and where it came from: the images of the
// library, the cache, or NVRTC.
func (l *Library) image(k *Kernel, sizes map[string]int, i Info) (image []byte, from string, err error) {
	constants, err := k.Constants(sizes)
	if err != nil {
		return nil, "", err
	}
	v := Variant{k.Name, constants}
	m, chosen := l.Chosen(v, i)
	if m != nil {
		image, err := m.read(v, chosen.Target)
		return image, "image " + chosen.Target, err
	}
	if err := Compiles(i); err != nil {
		return nil, "", fmt.Errorf("kernel %s on %s: %s; and %w", v, i, chosen.Why, err)
	}
	c, err := openCompiler()
	if err != nil {
		return nil, "", err
	}
	image, kept, err := c.image(k, l.header, constants, i.Target())
	if err != nil {
		return nil, "", fmt.Errorf("kernel %s on %s: %w", v, i, err)
	}
	if kept {
		return image, "the cache", nil
	}
	return image, "NVRTC " + c.version, nil
}

// image is the image of a text for a target. kept is whether it was in the cache.
func (c *compiler) image(k *Kernel, header, constants, target string) (image []byte, kept bool, err error) {
	at := cachePath(k.Text, header, constants, target, c.version, c.path)
	if image, ok := cached(at); ok {
		return image, true, nil
	}
	image, err = c.compileText(k.Name+".cu", k.Text, header, constants, target)
	if err != nil {
		return nil, false, err
	}
	if at != "" {
		sum := sha256.Sum256(image)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err == nil {
			atomicfile.Write(at, func(f *os.File) error { // without a cache the next run compiles again
				_, err := f.Write(append(sum[:], image...))
				return err
			})
		}
	}
	return image, false, nil
}

// WriteImages compiles variants of a library's kernels for targets and writes the images; the same bytes
// for the same texts, sizes and version of NVRTC. progress is called before each image. It is an error if there is no
// NVRTC, no kernel of a name, or a kernel does not compile.
func WriteImages(ctx context.Context, w io.Writer, l *Library, variants []Variant, targets []string, progress func(v Variant, target string)) error {
	c, err := openCompiler()
	if err != nil {
		return err
	}
	out, err := newImageWriter(w, c.version)
	if err != nil {
		return err
	}
	variants = slices.Compact(slices.SortedFunc(slices.Values(variants), CompareVariants))
	for _, target := range slices.Compact(slices.Sorted(slices.Values(targets))) {
		for _, v := range variants {
			if err := ctx.Err(); err != nil {
				return err
			}
			k, err := l.Kernel(v.Kernel)
			if err != nil {
				return err
			}
			progress(v, target)
			image, _, err := c.image(k, l.header, v.Sizes, target)
			if err == nil {
				err = out.add(target, v, digest(k.Text, l.header), image)
			}
			if err != nil {
				return fmt.Errorf("kernel %s for %s: %w", v, target, err)
			}
		}
	}
	return out.z.Close()
}

// cachePath is the file of an image, "" where there is no cache.
func cachePath(parts ...string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "hecate", "cuda", hashOf(parts...)[:32])
}

// cached reads an image that is whole.
func cached(at string) ([]byte, bool) {
	data, err := os.ReadFile(at)
	if err != nil || len(data) < sha256.Size {
		return nil, false
	}
	sum := sha256.Sum256(data[sha256.Size:])
	return data[sha256.Size:], bytes.Equal(sum[:], data[:sha256.Size])
}
