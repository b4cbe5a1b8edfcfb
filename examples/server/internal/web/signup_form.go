package web

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// The fields of the form, some of which others have as well.
const (
	fieldTenant   = "sitio"
	fieldName     = "nombre"
	fieldEmail    = "correo"
	fieldLanguage = "idioma"
)

// A signUpForm is what somebody typed, so that it can be shown again.
type signUpForm struct{ Tenant, Name, Email, Language string }

func readSignUpForm(values url.Values) signUpForm {
	return signUpForm{
		Tenant:   values.Get(fieldTenant),
		Name:     strings.TrimSpace(values.Get(fieldName)),
		Email:    strings.TrimSpace(values.Get(fieldEmail)),
		Language: values.Get(fieldLanguage),
	}
}

// maxName is in characters.
const maxName = 80

// check returns what is wrong with the form.
func (f signUpForm) check(tenants []host.ListedTenant) faults {
	wrong := faults{}
	wrong.checkTenant(f.Tenant, tenants)
	wrong.checkLanguage(f.Language)
	switch {
	case f.Name == "":
		wrong[fieldName] = "Falta el nombre."
	case utf8.RuneCountInString(f.Name) > maxName:
		wrong[fieldName] = "El nombre es demasiado largo: entran 80 caracteres."
	case !utf8.ValidString(f.Name), strings.ContainsFunc(f.Name, unicode.IsControl):
		wrong[fieldName] = "El nombre tiene un carácter que no se puede usar."
	}
	switch {
	case f.Email == "":
		wrong[fieldEmail] = "Falta el correo."
	case mail.CheckAddress(f.Email) != nil:
		wrong[fieldEmail] = badAddress
	}
	return wrong
}
