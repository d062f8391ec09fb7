//go:build linux && amd64 && !nogpu

package cuda_test

import (
	"archive/zip"
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/nl-hecate/hecate/runtime/cuda"
	"github.com/nl-hecate/hecate/runtime/device"
)

// TestChoose is the table of which image a GPU takes.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		major, minor int
		driver       string
		have         []string
		want, why    string
	}{
		{7, 5, "12.8", cuda.Targets, "", "sm_75 runs none of compute_80, sm_80, sm_86, sm_89, sm_90"},
		{8, 0, "12.8", cuda.Targets, "sm_80", "machine code of this GPU"},
		{8, 6, "12.8", cuda.Targets, "sm_86", "machine code of this GPU"},
		{8, 7, "12.8", cuda.Targets, "compute_80", "there is no machine code for sm_87; the driver translates PTX"}, // a Tegra
		{8, 8, "12.8", cuda.Targets, "sm_86", "sm_88 runs machine code of sm_86"},
		{8, 9, "12.8", cuda.Targets, "sm_89", "machine code of this GPU"},
		{9, 0, "12.2", cuda.Targets, "sm_90", "machine code of this GPU"},
		{9, 0, "11.8", cuda.Targets, "", "images of NVRTC 12.4 need a driver for CUDA 12, this one is for 11.8"},
		{10, 0, "12.8", cuda.Targets, "compute_80", "there is no machine code for sm_100; the driver translates PTX"},
		{12, 0, "13.0", cuda.Targets, "compute_80", "there is no machine code for sm_120; the driver translates PTX"},
		{12, 0, "12.2", cuda.Targets, "", "PTX of NVRTC 12.4 needs a driver for CUDA 12.4, this one is for 12.2"},
		{9, 0, "12.8", []string{"sm_90a", "sm_80"}, "", "sm_90 runs none of sm_80, sm_90a"},
		{8, 6, "12.8", []string{"sm_90", "sm_89"}, "", "sm_86 runs none of sm_89, sm_90"},
		{8, 9, "12.8", []string{"sm_90", "sm_87", "sm_80"}, "sm_80", "sm_89 runs machine code of sm_80"},
		{9, 0, "12.8", []string{"compute_90", "compute_80", "compute_100"}, "compute_90", "there is no machine code for sm_90; the driver translates PTX"},
		{9, 0, "12.8", nil, "", "there is no image with these sizes"},
	} {
		i := cuda.Info{Major: c.major, Minor: c.minor, Driver: c.driver}
		if got := cuda.Choose(i, c.have, "12.4"); got != (cuda.Choice{Target: c.want, Why: c.why}) {
			t.Errorf("%s, driver %s, of %v: %+v, want %s: %s", i.Target(), c.driver, c.have, got, c.want, c.why)
		}
	}
}

// written are images of axpy at widths, for targets.
func written(t *testing.T, l *cuda.Library, targets []string, sizes ...string) []byte {
	t.Helper()
	var variants []cuda.Variant
	for _, s := range sizes {
		variants = append(variants, cuda.Variant{Kernel: "axpy/run", Sizes: s})
	}
	var b bytes.Buffer
	if err := cuda.WriteImages(context.Background(), &b, l, variants, targets, func(cuda.Variant, string) {}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestImages: an image takes the place of the compiler; one that is damaged, or was made of another text,
// is none.
func TestImages(t *testing.T) {
	d := open(t)
	l := library(t)
	data := written(t, l, []string{"sm_80", "sm_90"}, "width=3", "width=2", "width=3")
	if again := written(t, l, []string{"sm_90", "sm_80"}, "width=2", "width=3"); !bytes.Equal(data, again) {
		t.Error("the same images are other bytes")
	}
	use := func(l *cuda.Library, data []byte) *cuda.Library {
		m, err := cuda.ReadImages(data)
		if err != nil {
			t.Fatal(err)
		}
		l.Use(m)
		return l
	}
	from := func(l *cuda.Library, width int) string {
		k, err := l.Kernel("axpy/run")
		if err != nil {
			t.Fatal(err)
		}
		x, err := d.Prepare(l, k, map[string]int{"width": width})
		if err != nil {
			return err.Error()
		}
		defer x.Unload()
		return x.From
	}
	use(l, data)
	if want := []cuda.Variant{{Kernel: "axpy/run", Sizes: "width=2"}, {Kernel: "axpy/run", Sizes: "width=3"}}; !reflect.DeepEqual(l.Variants(), want) {
		t.Errorf("images of %v, want %v", l.Variants(), want)
	}
	if got := from(l, 3); got != "image sm_90" {
		t.Errorf("the image came from %q", got)
	}
	if got := from(l, 5); got == "image sm_90" {
		t.Error("an image of other sizes is taken")
	}
	other, err := cuda.OpenLibrary(archive(t, map[string]string{"hecate.cuh": "", "axpy/run.cu": axpy, "axpy/run.json": row}))
	if err != nil {
		t.Fatal(err)
	}
	if _, c := use(other, data).Chosen(cuda.Variant{Kernel: "axpy/run", Sizes: "width=3"}, d.Info); c.Target != "" || c.Why != "its images were made of another text" {
		t.Errorf("of another text: %+v", c)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(data)
	for _, f := range z.File {
		at, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		broken[at+int64(f.CompressedSize64)/2] ^= 1
	}
	if got, want := from(use(library(t), broken), 3), "the image of kernel axpy/run width=3 for sm_90 is damaged: "; !strings.HasPrefix(got, want) {
		t.Errorf("a damaged image gives %q, want %s…", got, want)
	}
	for _, data := range [][]byte{nil, data[:len(data)-1], data[:len(data)/2], []byte("PK")} {
		if _, err := cuda.ReadImages(data); err == nil {
			t.Errorf("%d bytes of images are read", len(data))
		}
	}
}

// TestDryRun: a dry run notes the kernels with their sizes and the memory that a device takes for the same.
func TestDryRun(t *testing.T) {
	m := memory(t, sized)
	_, before := m.Device().Allocated()
	s, err := cuda.NewDryRun(m.Library())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, m := range []device.Memory{m, s} {
		const n = 70
		y, z := device.Make[float32](m, n), device.Make[float32](m, 3)
		device.Free(m, z)
		for _, width := range []int{1, 900, 1} {
			if x := device.Moved(m, make([]float32, n*width)); !device.Run(&call{N: n, Width: width, X: x, Y: y}, "axpy/run", y) {
				t.Fatal("the call does not run on the device")
			}
		}
		device.Scale(y, 2)
		if err := m.Err(); err != nil {
			t.Fatal(err)
		}
	}
	if want := []cuda.Variant{{Kernel: "axpy/run", Sizes: "width=1"}, {Kernel: "axpy/run", Sizes: "width=900"}, {Kernel: "runtime/vector"}}; !reflect.DeepEqual(s.Variants(), want) {
		t.Errorf("%v, want %v", s.Variants(), want)
	}
	_, bytes := m.Device().Allocated()
	const rounding = 10 * 256 // parts are aligned
	if got := s.Bytes(); got < bytes || got > bytes+rounding || bytes <= before {
		t.Errorf("a device takes %d bytes, the dry run says %d", bytes, got)
	}
}
