package notify

import (
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail"
)

func TestBrandValidate(t *testing.T) {
	t.Parallel()
	assert.NoError(t, sampleBrand().Validate())
	assert.NoError(t, Brand{Name: "Club", From: netmail.Address{Address: "a@b.example"}}.Validate(), "the rest is optional")

	err := Brand{}.Validate()
	assert.ErrorContains(t, err, "Name is empty")
	assert.ErrorIs(t, err, mail.ErrNoAddress)
	assert.ErrorContains(t, err, "From: ")

	for want, change := range map[string]func(*Brand){
		"Name is empty":                            func(b *Brand) { b.Name = " \n\u202e" },
		`PrimaryColor is "red"; want #rrggbb`:      func(b *Brand) { b.PrimaryColor = "red" },
		`PrimaryColor is "#fff"`:                   func(b *Brand) { b.PrimaryColor = "#fff" },
		`PrimaryColor is "#ffffff\n"`:              func(b *Brand) { b.PrimaryColor = "#ffffff\n" },
		`PrimaryColor is "#12345g"`:                func(b *Brand) { b.PrimaryColor = "#12345g" },
		`LogoURL "/logo.png" is no http or https`:  func(b *Brand) { b.LogoURL = "/logo.png" },
		`LogoURL "data:image/png,x" is no http`:    func(b *Brand) { b.LogoURL = "data:image/png,x" },
		`WebsiteURL "javascript:alert(1)" is no`:   func(b *Brand) { b.WebsiteURL = "javascript:alert(1)" },
		`WebsiteURL "https://:80/x" is no http`:    func(b *Brand) { b.WebsiteURL = "https://:80/x" },
		`WebsiteURL "https://a.example/x y" holds`: func(b *Brand) { b.WebsiteURL = "https://a.example/x y" },
		"WebsiteURL holds a user name":             func(b *Brand) { b.WebsiteURL = "https://me:secret@a.example/" },
		"WebsiteURL has 2021 bytes":                func(b *Brand) { b.WebsiteURL = "https://club.example/" + strings.Repeat("x", 2000) },
		"From: the e-mail address has no @":        func(b *Brand) { b.From.Address = "secreta" },
		"ReplyTo: the e-mail address":              func(b *Brand) { b.ReplyTo.Address = `"secreta x"@b.example` },
		"SupportEmail: the e-mail address":         func(b *Brand) { b.SupportEmail = "Ayuda <secreta@b.example>" },
	} {
		brand := sampleBrand()
		change(&brand)
		err := brand.Validate()
		assert.ErrorContains(t, err, want)
		if err != nil {
			assert.NotContains(t, err.Error(), "secret")
		}
	}
}

func TestBrandHeaders(t *testing.T) {
	t.Parallel()
	brand := Brand{Name: " Club\r\nBcc: x", From: netmail.Address{Address: "a@b.example"}}
	assert.Equal(t, netmail.Address{Name: "Club Bcc: x", Address: "a@b.example"}, brand.from())
	assert.Nil(t, brand.replyTo())

	brand.From.Name, brand.ReplyTo = "Socios\x00", netmail.Address{Name: "Mesa\nde entrada", Address: "c@d.example"}
	assert.Equal(t, "Socios", brand.from().Name)
	assert.Equal(t, &netmail.Address{Name: "Mesa de entrada", Address: "c@d.example"}, brand.replyTo())
}
