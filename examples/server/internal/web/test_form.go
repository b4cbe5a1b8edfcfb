package web

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// The fields of the form.
const (
	fieldServer   = "servidor"
	fieldPort     = "puerto"
	fieldTLS      = "cifrado"
	fieldUsername = "cuenta"
	fieldPassword = "clave"
)

// A testForm is what somebody typed, so that it can be shown again: the
// password apart.
type testForm struct {
	Tenant, To, Language        string
	Validates                   bool   // the integration, in the place of a mere test
	Server, Port, TLS, Username string // settings to try; without a Server the tenant's own
	Password                    smtp.Secret
}

func readTestForm(values url.Values) testForm {
	return testForm{
		Tenant:    values.Get(fieldTenant),
		To:        strings.TrimSpace(values.Get(fieldEmail)),
		Language:  values.Get(fieldLanguage),
		Validates: values.Get("que") == "validar",
		Server:    strings.TrimSpace(values.Get(fieldServer)),
		Port:      strings.TrimSpace(values.Get(fieldPort)),
		TLS:       values.Get(fieldTLS),
		Username:  strings.TrimSpace(values.Get(fieldUsername)),
		Password:  smtp.Secret(values.Get(fieldPassword)),
	}
}

// Tries reports whether the form names settings of its own.
func (f testForm) Tries() bool {
	return f.Server != "" || f.Port != "" || f.Username != "" || f.Password != ""
}

// check returns the settings to try, nil for the tenant's own, or what is wrong
// with the form.
func (f testForm) check(tenants []host.ListedTenant) (*smtp.Integration, faults) {
	wrong := faults{}
	wrong.checkTenant(f.Tenant, tenants)
	wrong.checkLanguage(f.Language)
	if f.To != "" && mail.CheckAddress(f.To) != nil {
		wrong[fieldEmail] = badAddress
	}
	if !f.Tries() {
		return nil, wrong
	}
	return f.integration(wrong), wrong
}

// integration asks the library of one field at a time, so that each is told
// what is wrong with it.
func (f testForm) integration(wrong faults) *smtp.Integration {
	integration := smtp.Integration{Host: f.Server, Username: f.Username, Password: f.Password}
	if (smtp.Integration{Host: f.Server}).Validate() != nil {
		wrong[fieldServer] = "El servidor tiene que ser un nombre, como smtp.ejemplo.com, o una dirección IP. El puerto va aparte."
	}
	if f.Port != "" {
		port, err := strconv.ParseUint(f.Port, 10, 16)
		if err != nil || port == 0 {
			wrong[fieldPort] = "El puerto tiene que ser un número de 1 a 65535."
		}
		integration.Port = int(port)
	}
	var err error
	if integration.TLS, err = smtp.ParseTLSPolicy(f.TLS); err != nil {
		wrong[fieldTLS] = "Falta elegir el cifrado."
	}
	if (smtp.Integration{Host: "servidor", Username: f.Username, Password: f.Password}).Validate() != nil {
		wrong[fieldUsername] = "La cuenta y la contraseña van juntas: las dos, o ninguna, y sin caracteres de control."
	}
	return &integration
}
