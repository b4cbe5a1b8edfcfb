package view_test

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
)

func bareBrand() view.Brand {
	return view.Brand{Name: "Club", From: netmail.Address{Address: "a@b.example"}}
}

func TestBrandValidate(t *testing.T) {
	t.Parallel()
	assert.NoError(t, view.SampleBrand().Validate())
	assert.NoError(t, bareBrand().Validate(), "the rest is optional")

	for want, change := range map[string]func(*view.Brand){
		"Name is empty":                             func(b *view.Brand) { b.Name = " \n\u202e" },
		`PrimaryColor is "red"; want #rrggbb`:       func(b *view.Brand) { b.PrimaryColor = "red" },
		`PrimaryColor is "#fff"`:                    func(b *view.Brand) { b.PrimaryColor = "#fff" },
		`PrimaryColor is "#ffffff\n"`:               func(b *view.Brand) { b.PrimaryColor = "#ffffff\n" },
		`AccentColor is "#12345g"`:                  func(b *view.Brand) { b.AccentColor = "#12345g" },
		`LogoURL "/logo.png" is no http or https`:   func(b *view.Brand) { b.LogoURL = "/logo.png" },
		`LogoURL "data:image/png,x" is no http`:     func(b *view.Brand) { b.LogoURL = "data:image/png,x" },
		`WebsiteURL "javascript:alert(1)" is no`:    func(b *view.Brand) { b.WebsiteURL = "javascript:alert(1)" },
		`WebsiteURL "https://:80/x" is no http`:     func(b *view.Brand) { b.WebsiteURL = "https://:80/x" },
		`WebsiteURL "https://a.example/x y" holds`:  func(b *view.Brand) { b.WebsiteURL = "https://a.example/x y" },
		`WebsiteURL "https://a.example/x y…" holds`: func(b *view.Brand) { b.WebsiteURL = "https://a.example/x y?token=secreto" },
		`WebsiteURL "ftp://a.example/…" is no http`: func(b *view.Brand) { b.WebsiteURL = "ftp://a.example/#secreto" },
		`WebsiteURL "…" is no http or https URL`:    func(b *view.Brand) { b.WebsiteURL = "https://me:secreto@a.example/%zz" },
		`LogoURL "…" is no http or https URL`:       func(b *view.Brand) { b.LogoURL = "mailto:secreta@a.example" },
		"WebsiteURL holds a user name":              func(b *view.Brand) { b.WebsiteURL = "https://me:secreto@a.example/" },
		"WebsiteURL has 2021 bytes":                 func(b *view.Brand) { b.WebsiteURL = "https://club.example/" + strings.Repeat("x", 2000) },
		"From: the e-mail address is empty":         func(b *view.Brand) { b.From.Address = "" },
		"From: the e-mail address has no @":         func(b *view.Brand) { b.From.Address = "secreta" },
		"ReplyTo: the e-mail address":               func(b *view.Brand) { b.ReplyTo.Address = `"secreta x"@b.example` },
		"SupportEmail: the e-mail address":          func(b *view.Brand) { b.SupportEmail = "Ayuda <secreta@b.example>" },
		"Logo is neither a PNG nor a JPEG file":     func(b *view.Brand) { b.Logo = []byte("<svg></svg>") },
	} {
		brand := view.SampleBrand()
		change(&brand)
		err := brand.Validate()
		assert.ErrorContains(t, err, want)
		if err != nil {
			assert.NotContains(t, err.Error(), "secret")
			assert.NotContains(t, err.Error(), "\n", "no other field")
		}
	}
}

func TestBrandValidateTellsAllFaults(t *testing.T) {
	t.Parallel()
	err := view.Brand{
		LogoURL: "x", Logo: []byte("x"), WebsiteURL: "x", PrimaryColor: "x", AccentColor: "x",
		ReplyTo: netmail.Address{Address: "x"}, SupportEmail: "x",
	}.Validate()
	require.ErrorIs(t, err, mail.ErrNoAddress)
	for _, field := range []string{"Name", "LogoURL", "Logo is", "WebsiteURL", "PrimaryColor", "AccentColor", "From", "ReplyTo", "SupportEmail"} {
		assert.Regexp(t, "(?m)^"+field, err.Error())
	}
}

func TestLogos(t *testing.T) {
	t.Parallel()
	picture := func(encode func(*bytes.Buffer, image.Image) error, width int) []byte {
		var file bytes.Buffer
		require.NoError(t, encode(&file, image.NewGray(image.Rect(0, 0, width, 20))))
		return file.Bytes()
	}
	asPNG := func(file *bytes.Buffer, m image.Image) error { return png.Encode(file, m) }
	asJPEG := func(file *bytes.Buffer, m image.Image) error { return jpeg.Encode(file, m, nil) }
	asGIF := func(file *bytes.Buffer, m image.Image) error { return gif.Encode(file, m, nil) }
	cut := func(file []byte) []byte { return file[:len(file)-15] }

	for name, c := range map[string]struct {
		logo []byte
		want string
	}{
		"PNG":        {picture(asPNG, 4000), ""},
		"JPEG":       {picture(asJPEG, 40), ""},
		"empty":      {[]byte{}, ""},
		"GIF":        {picture(asGIF, 40), "Logo is neither a PNG nor a JPEG file"},
		"text":       {[]byte("logo"), "Logo is neither a PNG nor a JPEG file"},
		"wide":       {picture(asPNG, 5000), "Logo has 5000 by 20 pixels; at most 4000 a side are allowed"},
		"large":      {append(picture(asPNG, 40), make([]byte, 1<<20)...), "bytes; at most 1048576 are allowed"},
		"cut":        {cut(picture(asPNG, 40)), "Logo is cut off"},
		"cut JPEG":   {cut(picture(asJPEG, 40)), "Logo is cut off"},
		"cut header": {picture(asPNG, 40)[:12], "Logo is neither a PNG nor a JPEG file"},
	} {
		brand := view.SampleBrand()
		brand.Logo = c.logo
		if c.want == "" {
			assert.NoError(t, brand.Validate(), name)
		} else {
			assert.ErrorContains(t, brand.Validate(), c.want, name)
		}
	}
}

func TestBrandHeaders(t *testing.T) {
	t.Parallel()
	brand := bareBrand()
	brand.Name = " Club\r\nBcc: x"
	assert.Equal(t, netmail.Address{Name: "Club Bcc: x", Address: "a@b.example"}, brand.Sender())
	assert.Nil(t, brand.Answers())

	brand.From.Name, brand.ReplyTo = "Socios\x00", netmail.Address{Name: "Mesa\nde entrada", Address: "c@d.example"}
	assert.Equal(t, "Socios", brand.Sender().Name)
	assert.Equal(t, &netmail.Address{Name: "Mesa de entrada", Address: "c@d.example"}, brand.Answers())
}
