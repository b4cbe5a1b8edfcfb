package main

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// newDay is far enough ahead for as long as the sample lives.
const newDay = "2150-03-20"

func rescheduleForm() url.Values {
	return url.Values{"dia": {newDay}, "hora": {"20:30"}, "mensaje": {"Las entradas siguen valiendo."}}
}

// audience returns a server on which two of the club's members have paid for a
// date, one has not, and one has annulled; all of their e-mails have come.
func audience(t *testing.T) *server {
	t.Helper()
	s := startServer(t, nil)
	for i, name := range []string{"ana", "bea", "cid", "dan"} {
		s.signUp("club-norte", name, name+"@example.net")
		s.buy(i+1, clubDate, 2)
	}
	for purchase := 1; purchase <= 4; purchase++ {
		if purchase != 3 {
			s.pay(purchase, now)
		}
	}
	s.awaitText("/inbox", "7 mensajes")
	s.post("/compras/4/anular", nil)
	return s
}

// sentSince returns the page of each e-mail after the first seven, by whom it
// is for.
func sentSince(s *server, n int) map[string]string {
	s.t.Helper()
	s.awaitText("/inbox", strconv.Itoa(7+n)+" mensajes")
	sent := map[string]string{}
	for i := range n {
		text := s.get("/inbox/" + strconv.Itoa(8+i)).text()
		_, to, _ := strings.Cut(text, " Para ")
		to, _, _ = strings.Cut(to, " ")
		sent[to] = text
	}
	require.Len(s.t, sent, n, "one for each")
	return sent
}

// shown returns how e-mails in Spanish tell the day of one of the club's dates.
func shown(s *server, date string) string {
	s.t.Helper()
	var at time.Time
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), `SELECT starts_at FROM sample_host.event_dates WHERE id = $1`, date).Scan(&at))
	montevideo, err := time.LoadLocation("America/Montevideo")
	require.NoError(s.t, err)
	return view.Locale{}.Moment(at.In(montevideo))
}

func TestRescheduledDateReachesEachBuyerOnce(t *testing.T) {
	t.Parallel()
	s := audience(t)
	question := s.get("/fechas/1/reprogramar")
	assert.Contains(t, question.text(), "2 compras pagadas se mueven a la fecha nueva, y sale un mensaje por cada una.")
	assert.Contains(t, question.text(), "Sin pagar: 1.")
	assert.Contains(t, question.text(), "Reprogramar y avisar a 2 compradores")
	before := shown(s, clubDate)

	assert.Contains(t, s.post("/fechas/1/reprogramar", rescheduleForm()).text(), "Fecha reprogramada.")
	sent := sentSince(s, 2)
	for _, to := range []string{"ana@example.net", "bea@example.net"} {
		text := sent[to]
		assert.Contains(t, text, before, to)
		assert.Contains(t, text, "viernes, 20 de marzo de 2150, 20:30", to)
		assert.Contains(t, text, "Las entradas siguen valiendo.", to)
	}
	s.awaitText("/entregas", "event-date-rescheduled:1:7:1 enviado", "event-date-rescheduled:1:7:2 enviado")

	dates := s.get("/fechas").text()
	assert.Contains(t, dates, "Noche de candombe Club Norte reprogramada")
	assert.Contains(t, dates, "20 de marzo de 2150, 20:30 (hora de Montevideo, UTC−3) Dónde Sede del Club Norte, Camino del Bosque 45, Montevideo Compras pagadas 2 Sin pagar 1")
	assert.Contains(t, s.get("/compras").text(), "20 de marzo de 2150", "the purchases have moved")
	s.pay(3, now) // for the date that it is now
	s.awaitText("/inbox", "10 mensajes")
	assert.Contains(t, s.get("/inbox/10").text(), "20 de marzo de 2150")

	for _, answer := range []page{s.get("/fechas/1/reprogramar"), s.post("/fechas/1/reprogramar", rescheduleForm()), s.get("/fechas/1/suspender")} {
		assert.Equal(t, http.StatusConflict, answer.StatusCode)
		assert.Contains(t, answer.text(), "Esa fecha ya se reprogramó o se suspendió.")
	}
}

func TestSuspendedDateReachesEachBuyerOnce(t *testing.T) {
	t.Parallel()
	s := audience(t)
	question := s.get("/fechas/1/suspender")
	assert.Contains(t, question.text(), "2 compras pagadas: sale un mensaje por cada una.")
	assert.Contains(t, question.text(), "Suspender y avisar a 2 compradores")
	assert.Equal(t, 7, s.count(`SELECT count(*) FROM buzon.email_deliveries`), "a question sends nothing")

	notice := url.Values{"mensaje": {"Se devuelve el dinero.\r\nEn secretaría."}}
	assert.Contains(t, s.post("/fechas/1/suspender", notice).text(), "Fecha suspendida.")
	sent := sentSince(s, 2)
	for _, to := range []string{"ana@example.net", "bea@example.net"} {
		assert.Contains(t, sent[to], "Se devuelve el dinero.", to)
	}
	s.awaitText("/entregas", "event-date-suspended:1:1 enviado", "event-date-suspended:1:2 enviado")
	assert.Contains(t, s.get("/fechas").text(), "Noche de candombe Club Norte suspendida")

	assert.Equal(t, http.StatusConflict, s.post("/compras/3/pagar", now).StatusCode, "it does not take place")
	late := s.post("/compras", purchaseForm(1, clubDate, 1))
	assert.Contains(t, late.text(), "Falta elegir la fecha.")
}

func TestRescheduleRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	assert.Contains(t, s.get("/fechas/1/reprogramar").text(), "Nadie pagó para esta fecha: no sale ningún mensaje.")
	var taken, same string
	require.NoError(t, s.db.QueryRow(t.Context(), `
		SELECT (SELECT (starts_at AT TIME ZONE 'America/Montevideo')::date::text FROM sample_host.event_dates WHERE id = 1),
			(SELECT (starts_at AT TIME ZONE 'America/Montevideo')::date::text FROM sample_host.event_dates WHERE id = 2)`).Scan(&same, &taken))
	for _, tc := range []struct {
		name, day, time, notice, says string
		status                        int
	}{
		{"no day", "", "20:30", "", "Falta el día.", http.StatusUnprocessableEntity},
		{"a day that is none", "2150-02-30", "20:30", "", "Falta el día.", http.StatusUnprocessableEntity},
		{"no time", newDay, "8 pm", "", "Falta la hora.", http.StatusUnprocessableEntity},
		{"the past", "2020-01-01", "20:30", "", "ya pasaron", http.StatusUnprocessableEntity},
		{"the same", same, "21:00", "", "Es el mismo día y la misma hora.", http.StatusUnprocessableEntity},
		{"a long message", newDay, "20:30", strings.Repeat("ñ", 501), "demasiado largo", http.StatusUnprocessableEntity},
		{"a message that cannot be shown", newDay, "20:30", "a\x00b", "un carácter que no se puede usar", http.StatusUnprocessableEntity},
		{"another date of the event", taken, "21:00", "", "El evento ya tiene una fecha", http.StatusConflict},
	} {
		answer := s.post("/fechas/1/reprogramar", url.Values{"dia": {tc.day}, "hora": {tc.time}, "mensaje": {tc.notice}})
		assert.Equal(t, tc.status, answer.StatusCode, tc.name)
		assert.Contains(t, answer.text(), tc.says, tc.name)
	}
	long := s.post("/fechas/1/suspender", url.Values{"mensaje": {strings.Repeat("ñ", 501)}})
	assert.Equal(t, http.StatusUnprocessableEntity, long.StatusCode)
	assert.Equal(t, 6, s.count(`SELECT count(*) FROM sample_host.event_dates WHERE state = 'scheduled'`))
	assert.Zero(t, s.jobs())
}
