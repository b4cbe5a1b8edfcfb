package notify

import (
	"cmp"
	"time"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// The samples that views are tried with, and previews show: between them they
// take every branch of the library's views.

// sampleZone is where the samples take place. Its offset is fixed, so that
// samples are the same on a machine without a time zone database.
var sampleZone = time.FixedZone("America/Montevideo", -3*60*60)

func passwordResetSamples() []PasswordResetData {
	expires := time.Date(2026, time.March, 5, 15, 34, 0, 0, sampleZone)
	return []PasswordResetData{
		PasswordReset{Code: "483920", ExpiresAt: expires}.data(Tenant{TimeZone: sampleZone}),
		PasswordReset{Code: "K7QF-93MX-22LP-TTR8"}.data(Tenant{}),
	}
}

func sampleEventDate() EventDate {
	return EventDate{
		Name:     "Noche de candombe: Los Señores del Tambor",
		StartsAt: time.Date(2026, time.March, 19, 21, 0, 0, 0, sampleZone), TimeZone: sampleZone,
		Venue: "Teatro de Verano Ramón Collazo", Address: "Rambla Presidente Wilson s/n, Montevideo",
		Notice: "Las entradas siguen siendo válidas.\nQuien no pueda asistir tiene diez días para pedir la devolución.",
	}
}

func samplePurchase(languages []string) Purchase {
	return Purchase{
		Number: "A-1042", Buyer: User{Name: "Ana Pérez", Email: "ana@example.com", Language: cmp.Or(languages...)},
		Items: []PurchaseItem{
			{Description: "Platea alta", Quantity: 2, Amount: view.Money{Minor: 240_000, Currency: "UYU"}},
			{Description: "Costo de servicio", Quantity: 1, Amount: view.Money{Minor: 19_200, Currency: "UYU"}},
		},
		Total:  view.Money{Minor: 259_200, Currency: "UYU"},
		PaidAt: time.Date(2026, time.March, 5, 12, 4, 0, 0, sampleZone),
		URL:    "https://club.example/compras/A-1042",
	}
}

func sampleTickets() PurchaseTickets {
	ticket := Ticket{
		Code: "BZN-7F3K-92QX", EventDate: sampleEventDate(), Kind: "Platea alta", Seat: "Fila 4, asiento 12",
		Holder: "Ana Pérez", Price: view.Money{Minor: 120_000, Currency: "UYU"},
	}
	second := ticket
	second.Code, second.Seat, second.Holder = "BZN-8M1T-04ZC", "Fila 4, asiento 13", "Łukasz Muñoz Ağaoğlu"
	return PurchaseTickets{Tickets: []Ticket{ticket, second}}
}

func purchaseConfirmedSamples() []PurchaseConfirmedData {
	tenant := Tenant{TimeZone: sampleZone}
	many := samplePurchase(nil)
	for len(many.Items) <= maxItems {
		many.Items = append(many.Items, PurchaseItem{Description: "Entrada general"})
	}
	return []PurchaseConfirmedData{
		confirmedData(tenant, samplePurchase(nil), sampleTickets(), true),
		confirmedData(tenant, Purchase{Number: "A-1043"}, PurchaseTickets{}, false),
		confirmedData(tenant, many, PurchaseTickets{Tickets: []Ticket{{EventDate: EventDate{Name: "Función", StartsAt: sampleTime}}}}, false),
	}
}

func eventDateRescheduledSamples() []EventDateRescheduledData {
	tenant := Tenant{TimeZone: sampleZone}
	after := sampleEventDate()
	after.StartsAt, after.Venue = after.StartsAt.AddDate(0, 0, 7), "Sala Zitarrosa"
	bare := EventDate{Name: "Función", StartsAt: sampleTime}
	return []EventDateRescheduledData{
		{Number: "A-1042", URL: "https://club.example/compras/A-1042", Before: sampleEventDate().data(tenant), After: after.data(tenant)},
		{Number: "A-1043", Before: bare.data(tenant), After: bare.data(tenant)},
	}
}

func eventDateSuspendedSamples() []EventDateSuspendedData {
	tenant := Tenant{TimeZone: sampleZone}
	return []EventDateSuspendedData{
		{Number: "A-1042", URL: "https://club.example/compras/A-1042", EventDate: sampleEventDate().data(tenant)},
		{Number: "A-1043", EventDate: EventDate{Name: "Función", StartsAt: sampleTime}.data(tenant)},
	}
}

func testSamples() []TestData { return []TestData{{RequestedAt: sampleTime.In(sampleZone)}} }

func integrationValidationSamples() []IntegrationValidationData {
	return []IntegrationValidationData{{RequestedAt: sampleTime.In(sampleZone)}}
}
