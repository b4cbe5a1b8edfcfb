package web

import (
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// The fields of the forms that reschedule or suspend a date.
const (
	fieldDay    = "dia"
	fieldTime   = "hora"
	fieldNotice = "mensaje"
)

// A closeForm is what somebody typed. Day and Time, as browsers send them, are
// for the new date.
type closeForm struct{ Day, Time, Notice string }

func readCloseForm(values url.Values) closeForm {
	return closeForm{
		Day: values.Get(fieldDay), Time: values.Get(fieldTime),
		Notice: strings.TrimSpace(strings.ReplaceAll(values.Get(fieldNotice), "\r\n", "\n")),
	}
}

// proposal is the form for a date, one day later.
func proposal(date host.ListedDate) closeForm {
	later := date.StartsAt.AddDate(0, 0, 1)
	return closeForm{Day: later.Format(time.DateOnly), Time: later.Format(timeOnly)}
}

// timeOnly is how browsers send a time of day.
const timeOnly = "15:04"

// start returns when the new date begins, told in the place's time, or what is
// wrong with it.
func (f closeForm) start(date host.ListedDate) (time.Time, faults) {
	wrong := faults{}
	if _, err := time.Parse(time.DateOnly, f.Day); err != nil {
		wrong[fieldDay] = "Falta el día."
	}
	if _, err := time.Parse(timeOnly, f.Time); err != nil {
		wrong[fieldTime] = "Falta la hora."
	}
	if len(wrong) > 0 {
		return time.Time{}, wrong
	}
	at, err := time.ParseInLocation(time.DateOnly+" "+timeOnly, f.Day+" "+f.Time, date.StartsAt.Location())
	switch {
	case err != nil, !at.After(time.Now()):
		wrong[fieldDay] = "El día y la hora nuevos ya pasaron."
	case at.Equal(date.StartsAt):
		wrong[fieldDay] = "Es el mismo día y la misma hora."
	}
	return at, wrong
}

// maxNotice is in characters.
const maxNotice = 500

func (f closeForm) checkNotice(wrong faults) {
	switch {
	case utf8.RuneCountInString(f.Notice) > maxNotice:
		wrong[fieldNotice] = "El mensaje es demasiado largo: entran 500 caracteres."
	case !utf8.ValidString(f.Notice), strings.ContainsFunc(f.Notice, isControl):
		wrong[fieldNotice] = "El mensaje tiene un carácter que no se puede usar."
	}
}

// isControl lets the ends of lines pass.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
