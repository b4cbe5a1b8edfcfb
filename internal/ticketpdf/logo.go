package ticketpdf

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	imagecolor "image/color"
	"image/draw"
	_ "image/jpeg" // a format of logos
	"image/png"
)

// maxShown is the longer side of a logo in the file, in pixels: about 300 to
// the inch.
const maxShown = 720

// prepareLogo returns a logo as a PNG file of the plain kind that fpdf can
// read, no larger than a page shows. It returns nil for no logo.
func prepareLogo(file []byte) ([]byte, error) {
	if len(file) == 0 {
		return nil, nil
	}
	logo, err := decodeLogo(file)
	if err != nil {
		return nil, fmt.Errorf("Brand.Logo %w", err)
	}
	var plain bytes.Buffer
	if err := png.Encode(&plain, shrink(logo)); err != nil {
		return nil, fmt.Errorf("Brand.Logo: %w", err)
	}
	return plain.Bytes(), nil
}

func decodeLogo(file []byte) (image.Image, error) {
	if len(file) > MaxLogo {
		return nil, fmt.Errorf("has %d bytes; at most %d are allowed", len(file), MaxLogo)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil, format != "png" && format != "jpeg":
		return nil, errors.New("is neither a PNG nor a JPEG file")
	case config.Width > MaxLogoSide || config.Height > MaxLogoSide:
		return nil, fmt.Errorf("has %d by %d pixels; at most %d a side are allowed", config.Width, config.Height, MaxLogoSide)
	}
	logo, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, fmt.Errorf("cannot be decoded: %w", err)
	}
	return logo, nil
}

// shrink returns an image with 8 bits a channel, each of its pixels the mean of
// a square of so many pixels that the longer side is within maxShown.
func shrink(from image.Image) *image.NRGBA {
	size := from.Bounds().Size()
	factor := (max(size.X, size.Y) + maxShown - 1) / maxShown
	whole := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(whole, whole.Bounds(), from, from.Bounds().Min, draw.Src)
	small := image.NewNRGBA(image.Rect(0, 0, (size.X+factor-1)/factor, (size.Y+factor-1)/factor))
	for y := range small.Rect.Max.Y {
		for x := range small.Rect.Max.X {
			square := image.Rect(x*factor, y*factor, (x+1)*factor, (y+1)*factor)
			small.Set(x, y, mean(whole, square.Intersect(whole.Rect)))
		}
	}
	return small
}

// mean returns the mean colour of a part, weighted by opacity.
func mean(of *image.RGBA, part image.Rectangle) imagecolor.RGBA {
	var sum [4]int
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for i := of.PixOffset(part.Min.X, y); i < of.PixOffset(part.Max.X, y); i++ {
			sum[i%4] += int(of.Pix[i])
		}
	}
	pixels := part.Dx() * part.Dy()
	channel := func(i int) uint8 { return uint8(sum[i] / pixels) } //nolint:gosec // It is a mean of bytes.
	return imagecolor.RGBA{R: channel(0), G: channel(1), B: channel(2), A: channel(3)}
}
