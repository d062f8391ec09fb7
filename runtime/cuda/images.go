package cuda

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Variant is a kernel at sizes of the model, as Kernel.Constants prints them.
type Variant struct {
	Kernel string `json:"kernel"` // UNIT/NAME
	Sizes  string `json:"sizes"`
}

func (v Variant) String() string { return strings.TrimSpace(v.Kernel + " " + v.Sizes) }

// CompareVariants orders variants by kernel, then by sizes.
func CompareVariants(a, b Variant) int {
	return cmp.Or(cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Sizes, b.Sizes))
}

// Images are precompiled variants of kernels. They are kept as a zip file. A file in it is
// named by what it is for, and by a digest of the text and of the header, as in
//
//	sm_90/delta_rule/step/d_k=64,d_v=64/0f3a2b4c5d6e7f80
//
// The zip file's comment is the version of NVRTC that made them.
type Images struct {
	version string
	found   map[Variant]map[string]*zip.File // by target
}

// imagesMark begins the comment of a zip file of images.
const imagesMark = "CUDA kernels, NVRTC "

// ReadImages opens images, of which it keeps data.
func ReadImages(data []byte) (*Images, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("the file of images is damaged: %w", err)
	}
	version, ok := strings.CutPrefix(z.Comment, imagesMark)
	if !ok {
		return nil, fmt.Errorf("this zip file is not one of kernel images: its comment does not begin with %q", imagesMark)
	}
	m := &Images{version: version, found: map[Variant]map[string]*zip.File{}}
	for _, f := range z.File {
		target, rest, _ := strings.Cut(f.Name, "/")
		words := strings.Split(rest, "/")
		n := len(words) - 2
		if n < 1 {
			return nil, fmt.Errorf("the file of images is damaged: %q is not the name of an image", f.Name)
		}
		v := Variant{strings.Join(words[:n], "/"), words[n]}
		if m.found[v] == nil {
			m.found[v] = map[string]*zip.File{}
		}
		m.found[v][target] = f
	}
	return m, nil
}

// Variants are those of the images, sorted.
func (m *Images) Variants() (out []Variant) {
	for v := range m.found {
		out = append(out, v)
	}
	slices.SortFunc(out, CompareVariants)
	return out
}

// digest is that of what an image was made from.
func digest(text, header string) string { return hashOf(text, header)[:16] }

// hashOf is the SHA-256 of some texts, in hexadecimal.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d\n%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// choose chooses among the images of a variant that were made of a text.
func (m *Images) choose(v Variant, digest string, i Info) Choice {
	var have []string
	for target, f := range m.found[v] {
		if strings.HasSuffix(f.Name, "/"+digest) {
			have = append(have, target)
		}
	}
	if len(have) == 0 && len(m.found[v]) > 0 {
		return Choice{Why: "its images were made of another text"}
	}
	return Choose(i, have, m.version)
}

// read is the image of a variant for a target.
func (m *Images) read(v Variant, target string) ([]byte, error) {
	r, err := m.found[v][target].Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(r) // of a whole file it checks the sum
	if err != nil {
		return nil, fmt.Errorf("the image of kernel %s for %s is damaged: %w", v, target, err)
	}
	return data, nil
}

// An imageWriter writes images, in the order of their names.
type imageWriter struct {
	z *zip.Writer
}

func newImageWriter(w io.Writer, version string) (*imageWriter, error) {
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	return &imageWriter{z}, z.SetComment(imagesMark + version)
}

func (w *imageWriter) add(target string, v Variant, digest string, image []byte) error {
	f, err := w.z.Create(strings.Join([]string{target, v.Kernel, v.Sizes, digest}, "/"))
	if err != nil {
		return err
	}
	_, err = f.Write(image)
	return err
}
