package web

import (
	"slices"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// faults say what is wrong with a form, by field.
type faults map[string]string

// badAddress is said of an address that cannot be one.
const badAddress = "Este correo no es válido. Tiene que ser como nombre@ejemplo.com."

func (f faults) checkTenant(code string, tenants []host.ListedTenant) {
	if !slices.ContainsFunc(tenants, func(t host.ListedTenant) bool { return t.Code == code }) {
		f[fieldTenant] = "Falta elegir el sitio."
	}
}

func (f faults) checkLanguage(tag string) {
	if !slices.ContainsFunc(languages, func(l language) bool { return l.Tag == tag }) {
		f[fieldLanguage] = "Falta elegir el idioma."
	}
}
