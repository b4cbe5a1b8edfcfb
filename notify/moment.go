package notify

import (
	"fmt"
	"strings"
	"time"
)

var months = [...]string{
	"enero", "febrero", "marzo", "abril", "mayo", "junio",
	"julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre",
}

// moment tells a point in time in a zone, which it names, as readers need it:
// "19 de marzo de 2026 a las 15:04 (America/Montevideo)". It says nothing that
// depends on when it is asked, so that every attempt renders the same e-mail.
func moment(t time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.UTC
	}
	t = t.In(zone)
	return fmt.Sprintf("%d de %s de %d a las %s (%s)", t.Day(), months[t.Month()-1], t.Year(), t.Format("15:04"), zoneName(t))
}

// zoneName returns the zone's name in the time zone database, or its offset
// where it has none, as "Local" and zones out of a timestamp.
func zoneName(t time.Time) string {
	name := t.Location().String()
	if name == "UTC" || strings.Contains(name, "/") {
		return name
	}
	return "UTC" + t.Format("-07:00")
}
