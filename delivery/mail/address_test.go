package mail_test

import (
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]netmail.Address{
		"ana@example.net":                      {Address: "ana@example.net"},
		"  ana@example.net \n":                 {Address: "ana@example.net"},
		"Ana Muñoz <ana@example.net>":          {Name: "Ana Muñoz", Address: "ana@example.net"},
		`"Muñoz, Ana (socia)" <a@b.example>`:   {Name: "Muñoz, Ana (socia)", Address: "a@b.example"},
		"a.b+tag=x!#$%&'*/?^_`{|}~-@b.example": {Address: "a.b+tag=x!#$%&'*/?^_`{|}~-@b.example"},
		"josé@ejemplo.ar":                      {Address: "josé@ejemplo.ar"},
		"info@muñoz.example":                   {Address: "info@muñoz.example"},
		"root@localhost":                       {Address: "root@localhost"},
		strings.Repeat("x", 64) + "@b.example": {Address: strings.Repeat("x", 64) + "@b.example"},
	} {
		got, err := mail.ParseAddress(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, got)
	}
}

func TestParseAddressRefuses(t *testing.T) {
	t.Parallel()
	_, err := mail.ParseAddress(" \t")
	require.ErrorIs(t, err, mail.ErrNoAddress)
	for _, text := range []string{
		"ana", "ana@", "@example.net", "ana@example..net", "ana@.example.net", ".ana@example.net", "ana.@example.net",
		"a..b@example.net", "ana@-example.net", "ana@example-.net", "ana@[192.0.2.1]", "ana@exam ple.net", "ana@example.net, luis@example.net",
		`"a b"@example.net`, `"a@x ORCPT=rfc822;z"@example.net`, "ana@example.net> NOTIFY=NEVER X=<z", "ana\r\nRCPT TO:<z@y>@example.net",
		"ana@example.net\x00", "ana@exam\x00ple.net", "ana@\xff.net", "ana@exa_\u200bmple.net", "ana\u202e@example.net",
		strings.Repeat("x", 65) + "@b.example", "a@" + strings.Repeat("x", 64) + ".example", "a@" + strings.Repeat("x.", 128) + "example",
		"ana@xn--.example", "ana@ñ\u0301-.example", "<>", "<ana@example.net", "Ana\x01 <ana@example.net>",
	} {
		_, err := mail.ParseAddress(text)
		if assert.Error(t, err, "%q", text) {
			assert.NotContains(t, err.Error(), "example", "the error does not repeat the address")
		}
	}
}

// Whatever is accepted can stand in MAIL FROM and RCPT TO as it is.
func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{"ana@example.net", `"a b"@c.d`, "Ana <a@b.c>", "josé@ejemplo.ar", "a@b> X=<c", "a@[::1]", "=?utf-8?q?a=0Ab?= <a@b.c>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		address, err := mail.ParseAddress(text)
		if err != nil {
			return
		}
		if strings.ContainsAny(address.Address, " \t\r\n\x00<>()[]\\,;:\"") || strings.Count(address.Address, "@") != 1 {
			t.Fatalf("%q became %q", text, address.Address)
		}
		if strings.ContainsAny(address.Name, "\r\n\x00") {
			t.Fatalf("%q became the name %q", text, address.Name)
		}
		again, err := mail.ParseAddress(address.Address)
		if err != nil || again.Address != address.Address {
			t.Fatalf("%q is not stable: %q, %v", address.Address, again.Address, err)
		}
	})
}
