package view_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func TestAZoneIsNamedAfterItsCity(t *testing.T) {
	t.Parallel()
	july := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct{ zone, tag, want string }{
		{"America/Montevideo", "es-UY", "hora de Montevideo, UTC−3"},
		{"America/Montevideo", "en", "Montevideo time, UTC−3"},
		{"America/Montevideo", "pt", "horário de Montevidéu, UTC−3"},
		{"America/Montevideo", "pt-PT", "hora de Montevideu, UTC−3"},
		{"America/Argentina/Buenos_Aires", "es", "hora de Buenos Aires, UTC−3"},
		{"America/Buenos_Aires", "es", "hora de Buenos Aires, UTC−3"},
		{"America/Argentina/Cordoba", "en", "Córdoba time, UTC−3"},
		{"America/Sao_Paulo", "pt-BR", "horário de São Paulo, UTC−3"},
		{"America/Sao_Paulo", "en-GB", "São Paulo time, UTC−3"},
		{"America/Asuncion", "es-PY", "hora de Asunción, UTC−3"},
		{"America/Asuncion", "pt", "horário de Assunção, UTC−3"},
		{"America/Bogota", "es-CO", "hora de Bogotá, UTC−5"},
		{"America/Mexico_City", "es-MX", "hora de Ciudad de México, UTC−6"},
		{"America/Mexico_City", "en", "Mexico City time, UTC−6"},
		{"America/Havana", "es", "hora de La Habana, UTC−4"},
		{"America/New_York", "es", "hora de Nueva York, UTC−4"},
		{"America/New_York", "pt", "horário de Nova York, UTC−4"},
		{"America/New_York", "pt-PT", "hora de Nova Iorque, UTC−4"},
		{"America/Santiago", "es", "hora de Santiago de Chile, UTC−4"},
		{"America/Santiago", "es-CL", "hora de Santiago, UTC−4"},
		{"America/St_Johns", "es", "hora de San Juan de Terranova, UTC−2:30"},
		{"America/Port-au-Prince", "en", "Port-au-Prince time, UTC−4"},
		{"America/Indiana/Knox", "en", "Knox, Indiana time, UTC−5"},
		{"Europe/London", "es", "hora de Londres, UTC+1"},
		{"Europe/Kyiv", "es", "hora de Kiev, UTC+3"},
		{"Europe/Lisbon", "pt-PT", "hora de Lisboa, UTC+1"},
		{"Africa/Abidjan", "en", "Abidjan time, UTC"},
		{"Asia/Kolkata", "es", "hora de Kolkata, UTC+5:30"},
		{"Asia/Kathmandu", "en", "Kathmandu time, UTC+5:45"},
		{"UTC", "es", "UTC"},
		{"Etc/UTC", "es", "UTC"},
		{"GMT", "en", "UTC"},
		{"Etc/GMT+3", "es", "UTC−3"},
		{"EST5EDT", "es", "UTC−4"},
		{"US/Eastern", "en", "UTC−4"},
		{"Brazil/East", "pt", "UTC−3"},
		{"Japan", "en", "UTC+9"},
	} {
		assert.Equal(t, test.want, locale(t, test.tag).Zone(july.In(zone(t, test.zone))), "%+v", test)
	}
}

func TestAZoneWithoutACityIsItsOffset(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name    string
		seconds int
		want    string
	}{
		{"", 0, "UTC"},
		{"", -3 * 3600, "UTC−3"},
		{"Local", -3 * 3600, "UTC−3"},
		{"UYT", -3 * 3600, "UTC−3"},
		{"UTC", 3600, "UTC+1"},
		{"", 5*3600 + 1800, "UTC+5:30"},
		{"", -1800, "UTC−0:30"},
		{"", 14 * 3600, "UTC+14"},
		{"", -(3*3600 + 44*60 + 51), "UTC−3:44:51"},
		{"", 3600 + 5, "UTC+1:00:05"},
		{"America/Bad\r\nBcc: x", -3 * 3600, "UTC−3"},
		{"America/<b>", -3 * 3600, "UTC−3"},
		{"America/", -3 * 3600, "UTC−3"},
		{"../../Europe/Paris", 3600, "UTC+1"},
		{"America/Montevideo", -3 * 3600, "hora de Montevideo, UTC−3"},
	} {
		at := time.Date(2026, 3, 19, 12, 0, 0, 0, time.FixedZone(test.name, test.seconds))
		assert.Equal(t, test.want, view.Locale{}.Zone(at), "%+v", test)
	}
	assert.Equal(t, "UTC", view.Locale{}.Zone(time.Time{}))
}

// On the night of a change, the same time of day comes twice and the offset
// tells the two apart.
func TestTheOffsetIsThatOfTheMoment(t *testing.T) {
	t.Parallel()
	madrid := zone(t, "Europe/Madrid")
	change := time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)
	assert.Equal(t, "domingo, 25 de octubre de 2026, 2:30 (hora de Madrid, UTC+2)",
		view.Locale{}.Moment(change.Add(-30*time.Minute).In(madrid)))
	assert.Equal(t, "domingo, 25 de octubre de 2026, 2:30 (hora de Madrid, UTC+1)",
		view.Locale{}.Moment(change.Add(30*time.Minute).In(madrid)))
	santiago := zone(t, "America/Santiago") // no midnight on the first day of summer time
	midnight := time.Date(2026, 9, 6, 4, 0, 0, 0, time.UTC)
	assert.Equal(t, "sábado, 5 de septiembre de 2026, 23:59 (hora de Santiago, UTC−4)",
		locale(t, "es-CL").Moment(midnight.Add(-time.Minute).In(santiago)))
	assert.Equal(t, "domingo, 6 de septiembre de 2026, 01:00 (hora de Santiago, UTC−3)",
		locale(t, "es-CL").Moment(midnight.In(santiago)))
	assert.Equal(t, "hora de Montevideo, UTC−3:44:51",
		view.Locale{}.Zone(time.Date(1900, 1, 1, 0, 0, 0, 0, zone(t, "America/Montevideo"))))
}
