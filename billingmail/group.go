package billingmail

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// maxComprobantes is how many vouchers an entry can have: an e-mail shows them
// all.
const maxComprobantes = 500

// groupJSON is a group of gruposExitosos. Its fields are read one by one, so
// that a fault in one does not hide the others.
type groupJSON struct {
	Nombre       json.RawMessage `json:"nombre"`
	Email        json.RawMessage `json:"email"`
	Comprobantes json.RawMessage `json:"comprobantes"`
}

type comprobanteJSON struct {
	Tipo        json.RawMessage `json:"tipo"`
	Numero      json.RawMessage `json:"numero"`
	Importe     json.RawMessage `json:"importe"`
	Moneda      json.RawMessage `json:"moneda"`
	Vencimiento json.RawMessage `json:"vencimiento"`
	URL         json.RawMessage `json:"url"`
}

// parseGroup reads a group, and says what is wrong with it, for people.
func parseGroup(raw json.RawMessage) (Entry, string) {
	var group groupJSON
	if err := json.Unmarshal(raw, &group); err != nil {
		return Entry{}, "el grupo no es un objeto"
	}
	var f faultFinder
	entry := Entry{Nombre: f.text("nombre", group.Nombre), Email: f.text("email", group.Email)}
	var all []json.RawMessage
	if len(group.Comprobantes) > 0 && json.Unmarshal(group.Comprobantes, &all) != nil {
		f.found("comprobantes no es una lista")
	}
	if len(all) > maxComprobantes {
		f.found(fmt.Sprintf("tiene %d comprobantes; se admiten hasta %d", len(all), maxComprobantes))
		all = nil
	}
	for i, one := range all {
		f.within = fmt.Sprintf("comprobante %d: ", i+1)
		entry.Comprobantes = append(entry.Comprobantes, f.comprobante(one))
	}
	return entry, f.fault
}

// A faultFinder reads values and keeps the first fault.
type faultFinder struct{ within, fault string }

func (f *faultFinder) found(fault string) {
	if f.fault == "" {
		f.fault = f.within + fault
	}
}

// text returns a text or, where a number stands, that; missing and null are
// empty.
func (f *faultFinder) text(field string, raw json.RawMessage) string {
	var text string
	var number json.Number
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case json.Unmarshal(raw, &text) == nil:
	case json.Unmarshal(raw, &number) == nil:
		return number.String()
	default:
		f.found(field + " no es un texto")
	}
	return strings.TrimSpace(text)
}

func (f *faultFinder) comprobante(raw json.RawMessage) Comprobante {
	var read comprobanteJSON
	if err := json.Unmarshal(raw, &read); err != nil {
		f.found("no es un objeto")
		return Comprobante{}
	}
	c := Comprobante{
		Tipo: f.text("tipo", read.Tipo), Numero: f.text("numero", read.Numero),
		Importe:     f.money(f.text("importe", read.Importe), f.text("moneda", read.Moneda)),
		Vencimiento: f.date(f.text("vencimiento", read.Vencimiento)), URL: f.text("url", read.URL),
	}
	if c.Numero == "" {
		f.found("falta el número")
	}
	if view.CheckURL("url", c.URL) != nil {
		f.found("url no es una dirección http o https")
	}
	return c
}

// money reads an amount, which may be missing.
func (f *faultFinder) money(amount, currency string) view.Money {
	if amount == "" && currency == "" {
		return view.Money{}
	}
	money, err := view.ParseMoney(amount, strings.ToUpper(currency))
	if err != nil {
		f.found("importe y moneda no son una cantidad de dinero")
	}
	return money
}

const dateLayout = "2006-01-02"

// date returns a date of a date or of a moment.
func (f *faultFinder) date(text string) string {
	if text == "" {
		return ""
	}
	for _, layout := range []string{dateLayout, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.Format(dateLayout)
		}
	}
	f.found("vencimiento no es una fecha (AAAA-MM-DD)")
	return ""
}
