package web

import (
	"net/url"
	"slices"
	"strconv"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// The fields of the form.
const (
	fieldUser  = "usuario"
	fieldDate  = "fecha"
	fieldSeats = "entradas"
)

// A purchaseForm is what somebody chose, so that it can be shown again.
type purchaseForm struct{ User, Date, Seats string }

func readPurchaseForm(values url.Values) purchaseForm {
	return purchaseForm{User: values.Get(fieldUser), Date: values.Get(fieldDate), Seats: values.Get(fieldSeats)}
}

// check returns the purchase, or what is wrong with the form.
func (f purchaseForm) check(users []host.ListedUser, dates []host.ListedDate) (host.NewPurchase, faults) {
	wrong := faults{}
	user := slices.IndexFunc(users, func(u host.ListedUser) bool { return strconv.FormatInt(u.ID, 10) == f.User })
	if user < 0 {
		wrong[fieldUser] = "Falta elegir quién compra."
	}
	date := slices.IndexFunc(dates, func(d host.ListedDate) bool { return strconv.FormatInt(d.ID, 10) == f.Date })
	switch {
	case date < 0:
		wrong[fieldDate] = "Falta elegir la fecha."
	case user >= 0 && users[user].TenantCode != dates[date].TenantCode:
		wrong[fieldDate] = "Esta fecha es de otro sitio. La cuenta es de " + users[user].Tenant + "."
	}
	seats, err := strconv.Atoi(f.Seats)
	if err != nil || seats < 0 || seats > host.MaxSeats {
		wrong[fieldSeats] = "La cantidad tiene que ser un número de 0 a " + strconv.Itoa(host.MaxSeats) + "."
	}
	if len(wrong) > 0 {
		return host.NewPurchase{}, wrong
	}
	return host.NewPurchase{UserID: users[user].ID, EventDateID: dates[date].ID, Seats: seats}, nil
}
