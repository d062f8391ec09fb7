//go:build linux && (amd64 || arm64) && !nogpu

package cuda

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nl-hecate/hecate/runtime/internal/atomicfile"
)

// Images that NVRTC made are kept in the user's cache, under the hash of all that they follow
// from: text, header, sizes, machine and version of the compiler. An entry begins with the hash
// of its image; one that is damaged is made again.

// image returns the image of a kernel with sizes for a device, and where it came from.
func (l *Library) image(k *Kernel, sizes map[string]int, i Info) (image []byte, from string, err error) {
	constants, err := k.Constants(sizes)
	if err != nil {
		return nil, "", err
	}
	c, err := openCompiler()
	if err != nil {
		return nil, "", fmt.Errorf("kernel %s (%s) on %s: no image has these sizes, and %w", k.Name, constants, i, err)
	}
	if !c.supports(i) {
		return nil, "", fmt.Errorf("kernel %s (%s) on %s: NVRTC %s does not know this machine; a newer one is needed", k.Name, constants, i, c.version)
	}
	at := cachePath(k.Text, l.header, constants, i.Target(), c.version, c.path)
	if image, ok := cached(at); ok {
		return image, "the cache", nil
	}
	image, err = c.compileText(k.Name+".cu", k.Text, l.header, constants, i.Target())
	if err != nil {
		return nil, "", fmt.Errorf("kernel %s (%s) on %s: %w", k.Name, constants, i, err)
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
	return image, "NVRTC " + c.version, nil
}

// cachePath is the file of an image, "" where there is no cache.
func cachePath(parts ...string) string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s", len(p), p)
	}
	return filepath.Join(dir, "hecate", "cuda", hex.EncodeToString(h.Sum(nil))[:32])
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
