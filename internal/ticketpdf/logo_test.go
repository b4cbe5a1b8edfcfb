package ticketpdf_test

import (
	"bytes"
	"image"
	"image/color"
	"image/color/palette"
	imagedraw "image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

var blue = color.NRGBA{R: 30, G: 90, B: 160, A: 255}

// filled returns an image that is blue all over.
func filled(onto imagedraw.Image) image.Image {
	imagedraw.Draw(onto, onto.Bounds(), image.NewUniform(blue), image.Point{}, imagedraw.Src)
	return onto
}

func pngOf(t *testing.T, picture image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, png.Encode(&file, picture))
	return file.Bytes()
}

func pngLogo(t *testing.T) []byte {
	t.Helper()
	return pngOf(t, filled(image.NewNRGBA(image.Rect(0, 0, 400, 120))))
}

func jpegOf(t *testing.T, picture image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	require.NoError(t, jpeg.Encode(&file, picture, nil))
	return file.Bytes()
}

func TestLogoIsShown(t *testing.T) {
	t.Parallel()
	size := image.Rect(0, 0, 400, 120)
	for name, logo := range map[string][]byte{
		"8 bits":    pngLogo(t),
		"16 bits":   pngOf(t, filled(image.NewNRGBA64(size))),
		"palette":   pngOf(t, filled(image.NewPaletted(size, append(palette.WebSafe[:200:200], blue)))),
		"JPEG":      jpegOf(t, filled(image.NewRGBA(size))),
		"tall":      pngOf(t, filled(image.NewNRGBA(image.Rect(0, 0, 40, 4000)))),
		"wide":      pngOf(t, filled(image.NewNRGBA(image.Rect(0, 0, 4000, 40)))),
		"one pixel": pngOf(t, filled(image.NewNRGBA(image.Rect(0, 0, 1, 1)))),
		"large":     jpegOf(t, filled(image.NewRGBA(image.Rect(0, 0, 4000, 1000)))),
	} {
		d := sample()
		d.Brand.Logo = logo
		file := draw(t, d)
		assert.Less(t, len(file), 100_000, name)
		assert.True(t, hasBlue(render(t, file)[0]), name)
		assert.NotContains(t, textOf(t, file)[0], d.Brand.Name+"\n\n", "%s: it stands in for the name", name)
	}
}

// hasBlue looks for the logo in the band.
func hasBlue(page image.Image) bool {
	for y := range 30 * dpi * 10 / 254 {
		for x := range page.Bounds().Dx() {
			if r, g, b, _ := page.At(x, y).RGBA(); r>>8 < 50 && g>>8 > 75 && g>>8 < 105 && b>>8 > 140 && b>>8 < 180 {
				return true
			}
		}
	}
	return false
}

func TestClearPartsOfALogoAreWhite(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Brand.Logo = pngOf(t, image.NewNRGBA(image.Rect(0, 0, 900, 300)))
	r, g, b, _ := render(t, draw(t, d))[0].At(30*dpi*10/254, 15*dpi*10/254).RGBA()
	assert.Equal(t, [3]uint32{0xffff, 0xffff, 0xffff}, [3]uint32{r, g, b})
}

func TestLogoThatCannotBeShown(t *testing.T) {
	t.Parallel()
	whole := pngLogo(t)
	var animated bytes.Buffer
	require.NoError(t, gif.Encode(&animated, filled(image.NewPaletted(image.Rect(0, 0, 9, 9), palette.WebSafe)), nil))
	for name, test := range map[string]struct {
		logo []byte
		want string
	}{
		"no image":  {[]byte("<svg/>"), "Brand.Logo is neither a PNG nor a JPEG file"},
		"GIF":       {animated.Bytes(), "Brand.Logo is neither a PNG nor a JPEG file"},
		"truncated": {whole[:len(whole)-40], "Brand.Logo cannot be decoded"},
		"heavy":     {make([]byte, ticketpdf.MaxLogo+1), "Brand.Logo has 2097153 bytes; at most 2097152"},
		"wide":      {pngOf(t, image.NewGray(image.Rect(0, 0, 4001, 1))), "Brand.Logo has 4001 by 1 pixels; at most 4000"},
		"high":      {pngOf(t, image.NewGray(image.Rect(0, 0, 1, 4001))), "Brand.Logo has 1 by 4001 pixels; at most 4000"},
	} {
		d := sample()
		d.Brand.Logo = test.logo
		_, err := ticketpdf.Draw(d)
		assert.ErrorContains(t, err, test.want, name)
	}
}
