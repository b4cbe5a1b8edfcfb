package httpapi

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail/view"
)

// number groups the digits: "12.345".
func number(n int) string { return view.Locale{}.Number(n) }

// counted puts a number before its noun: "1 correo", "12.345 correos".
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(n) + " " + many
}

// headline says in a sentence where a lote stands.
func headline(p billingmail.Progress, zone *time.Location) string {
	total := p.Resumen.Total()
	switch {
	case p.Cancelling:
		return "Se está cancelando: lo que está en curso termina y el resto queda omitido."
	case !p.NextRetryAt.IsZero():
		return fmt.Sprintf("Hubo fallas que pueden pasar solas: se reintenta %s, intento %d de %d.",
			clock(p.NextRetryAt, time.Now(), zone), p.RetryCount+1, p.MaxRetries+1)
	case p.State == delivery.StatePending:
		return "El envío está en la cola y empieza en un momento."
	case p.Active && p.RetryCount > 0:
		return fmt.Sprintf("Enviando otra vez lo que había fallado, intento %d de %d.", p.RetryCount+1, p.MaxRetries+1)
	case p.Active:
		return "Enviando los correos."
	case total == 0:
		return "Todavía no se envió ningún correo de este lote."
	case p.Resumen.Pendiente > 0:
		return "No hay ningún envío en curso, y quedaron correos pendientes."
	}
	return "No hay ningún envío en curso."
}

// announcement is what a screen reader is told of the progress: in steps of ten
// per cent, since each change is read out.
func announcement(p billingmail.Progress, zone *time.Location) string {
	total := p.Resumen.Total()
	switch {
	case p.State == delivery.StateRunning && !p.Cancelling && total > 0:
		return fmt.Sprintf("Enviando: %d %% procesado.", (total-p.Resumen.Pendiente)*10/total*10)
	case p.Active || total == 0:
		return headline(p, zone)
	}
	return fmt.Sprintf("%s Enviados: %s. Con error: %s. Omitidos: %s.", headline(p, zone),
		number(p.Resumen.Enviado), number(p.Resumen.Error), number(p.Resumen.Omitido))
}

// pace says how fast a job sends and how long it still takes; empty where that
// cannot be told.
func pace(p billingmail.Progress) string {
	if p.PerSecond <= 0 || p.Remaining <= 0 {
		return ""
	}
	rate := number(int(math.Round(p.PerSecond))) + " por segundo"
	if p.PerSecond < 1.5 {
		rate = number(max(1, int(math.Round(p.PerSecond*60)))) + " por minuto"
	}
	return fmt.Sprintf("Ritmo: %s. Tiempo restante: %s.", rate, duration(p.Remaining))
}

// duration tells about how long something takes.
func duration(d time.Duration) string {
	minutes := int(math.Round(d.Minutes()))
	hours := int(math.Round(d.Hours()))
	switch {
	case d < 45*time.Second:
		return "menos de un minuto"
	case minutes == 1:
		return "alrededor de un minuto"
	case minutes < 60:
		return fmt.Sprintf("unos %d minutos", minutes)
	case hours == 1:
		return "alrededor de una hora"
	case hours <= 48:
		return fmt.Sprintf("unas %d horas", hours)
	}
	return fmt.Sprintf("unos %d días", int(math.Round(d.Hours()/24)))
}

// clock tells when something happens: "a las 15:04", or with the day where that
// is another one.
func clock(t, now time.Time, zone *time.Location) string {
	t, now = t.In(zone), now.In(zone)
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("a las 15:04")
	}
	return t.Format("el 02/01 a las 15:04")
}

// moment tells a time, to the minute.
func moment(t time.Time, zone *time.Location) string { return t.In(zone).Format("02/01/2006 15:04") }

// zoneName says in which zone times are told.
func zoneName(zone *time.Location) string { return view.Locale{}.Zone(time.Now().In(zone)) }

// withMembers adds to a problem's words the members that it names.
func withMembers(p problem) problem {
	if len(p.SocioIDs) > 0 {
		p.Detail += " " + members(p.SocioIDs) + "."
	}
	return p
}

// shownMembers is how many members a page names.
const shownMembers = 20

// members names members: "Socios 1, 5, 9".
func members(ids []int64) string {
	if len(ids) == 1 {
		return fmt.Sprintf("Socio %d", ids[0])
	}
	var text strings.Builder
	text.WriteString("Socios ")
	for i, id := range ids[:min(len(ids), shownMembers)] {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(strconv.FormatInt(id, 10))
	}
	if more := len(ids) - shownMembers; more > 0 {
		fmt.Fprintf(&text, " y %s más", number(more))
	}
	return text.String()
}
