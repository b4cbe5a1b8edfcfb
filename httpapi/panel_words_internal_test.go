package httpapi

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
)

func TestDurationsInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Millisecond: "menos de un minuto", 44 * time.Second: "menos de un minuto", 45 * time.Second: "alrededor de un minuto",
		89 * time.Second: "alrededor de un minuto", 90 * time.Second: "unos 2 minutos", 3 * time.Minute: "unos 3 minutos",
		59*time.Minute + 29*time.Second: "unos 59 minutos", 59*time.Minute + 30*time.Second: "alrededor de una hora",
		89 * time.Minute: "alrededor de una hora", 90 * time.Minute: "unas 2 horas", 48 * time.Hour: "unas 48 horas", 72 * time.Hour: "unos 3 días",
	} {
		assert.Equal(t, want, duration(d), d.String())
	}
}

func TestPaceInWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perSecond float64
		remaining time.Duration
		want      string
	}{
		{0, 0, ""}, {5, 0, ""},
		{14.2, 3 * time.Minute, "Ritmo: 14 por segundo. Tiempo restante: unos 3 minutos."},
		{0.5, 3 * time.Minute, "Ritmo: 30 por minuto. Tiempo restante: unos 3 minutos."},
		{0.001, 3 * time.Minute, "Ritmo: 1 por minuto. Tiempo restante: unos 3 minutos."},
	} {
		assert.Equal(t, c.want, pace(billingmail.Progress{PerSecond: c.perSecond, Remaining: c.remaining}))
	}
}

func TestHeadlines(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*3600)
	done := billingmail.Resumen{Enviado: 1234, Error: 1}
	half := billingmail.Resumen{Enviado: 5, Pendiente: 6}
	tomorrow := time.Now().Add(24 * time.Hour)
	for _, c := range []struct {
		progress        billingmail.Progress
		headline, aloud string
	}{
		{billingmail.Progress{}, "Todavía no se envió ningún correo de este lote.", "Todavía no se envió ningún correo de este lote."},
		{billingmail.Progress{Resumen: done}, "No hay ningún envío en curso.", "No hay ningún envío en curso. Enviados: 1.234. Con error: 1. Omitidos: 0."},
		{billingmail.Progress{Resumen: half}, "No hay ningún envío en curso, y quedaron correos pendientes.", "No hay ningún envío en curso, y quedaron correos pendientes. Enviados: 5. Con error: 0. Omitidos: 0."},
		{billingmail.Progress{Resumen: half, Active: true, State: delivery.StatePending}, "El envío está en la cola y empieza en un momento.", "El envío está en la cola y empieza en un momento."},
		{billingmail.Progress{Resumen: half, Active: true, State: delivery.StateRunning}, "Enviando los correos.", "Enviando: 40 % procesado."},
		{
			billingmail.Progress{Resumen: half, Active: true, State: delivery.StateRunning, RetryCount: 1, MaxRetries: 4},
			"Enviando otra vez lo que había fallado, intento 2 de 5.", "Enviando: 40 % procesado.",
		},
		{
			billingmail.Progress{Resumen: done, Active: true, State: delivery.StatePending, RetryCount: 1, MaxRetries: 4, NextRetryAt: tomorrow},
			"Hubo fallas que pueden pasar solas: se reintenta " + tomorrow.In(zone).Format("el 02/01 a las 15:04") + ", intento 2 de 5.",
			"Hubo fallas que pueden pasar solas: se reintenta " + tomorrow.In(zone).Format("el 02/01 a las 15:04") + ", intento 2 de 5.",
		},
		{
			billingmail.Progress{Resumen: half, Active: true, State: delivery.StateRunning, Cancelling: true},
			"Se está cancelando: lo que está en curso termina y el resto queda omitido.", "Se está cancelando: lo que está en curso termina y el resto queda omitido.",
		},
	} {
		assert.Equal(t, c.headline, headline(c.progress, zone))
		assert.Equal(t, c.aloud, announcement(c.progress, zone))
	}
}

func TestClockNamesAnotherDay(t *testing.T) {
	t.Parallel()
	zone := time.FixedZone("", -3*3600)
	now := time.Date(2026, time.March, 19, 1, 0, 0, 0, time.UTC) // the 18th, there
	assert.Equal(t, "a las 23:59", clock(now.Add(119*time.Minute), now, zone))
	assert.Equal(t, "el 19/03 a las 00:00", clock(now.Add(120*time.Minute), now, zone))
}

func TestMembersInWords(t *testing.T) {
	t.Parallel()
	ids := make([]int64, 22)
	for i := range ids {
		ids[i] = int64(i + 1)
	}
	assert.Equal(t, "Socio 7", members([]int64{7}))
	assert.Equal(t, "Socios 7, 9", members([]int64{7, 9}))
	assert.Equal(t, "Socios 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20 y 2 más", members(ids))
}
