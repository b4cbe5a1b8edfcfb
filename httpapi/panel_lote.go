package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/buzon-go/buzon/billingmail"
)

// A lotePage is what the page of a lote shows.
type lotePage struct {
	Schema string
	LoteID int64
	Notice string // what was just done; empty for nothing
	Fault  string // why something could not be done; empty for nothing

	Self, Base string // the addresses of this page and of the lote
	Zone       string // of all times

	Active, Cancelling           bool
	Headline, Announcement, Pace string
	RequestedBy                  string // who asked for what is being sent
	Total, Done                  int
	Resumen                      billingmail.Resumen

	Filters     []filter
	Estado      billingmail.Estado
	Socio       int64
	Entries     []entryRow
	Page, Pages int
	Prev, Next  string // addresses; empty for none
	All         string // the address without a search
}

// A filter is a link to the entries of one estado.
type filter struct {
	ID, Name, Address string
	Count             int
	Current           bool
}

// An entryRow is a row of the table.
type entryRow struct {
	billingmail.EmailDetalle
	When string // of the last attempt; empty for never
}

// estados are the filters in their order.
var estados = []struct {
	estado billingmail.Estado
	name   string
}{
	{"", "Todos"},
	{billingmail.Pendiente, "Pendientes"},
	{billingmail.Enviado, "Enviados"},
	{billingmail.Error, "Con error"},
	{billingmail.Omitido, "Omitidos"},
}

// notices are what the page can say about what was just done, by the word in its
// address.
var notices = map[string]string{
	"enviado":    "El envío empezó.",
	"cancelado":  "El envío se canceló.",
	"cancelando": "Se pidió cancelar el envío: termina en unos segundos.",
}

// lote shows the page of a lote, or asks before something is sent.
func (p *panel) lote(w http.ResponseWriter, r *http.Request, c call) error {
	query, err := readPanelQuery(r.URL.RawQuery)
	if err != nil {
		return err
	}
	if query.Has("confirmar") {
		return p.confirm(w, r, c, query)
	}
	request, err := listRequest(query)
	if err != nil {
		return err
	}
	page, err := p.lotePage(r, c, request)
	if err != nil {
		return err
	}
	page.Notice = notices[query.Get("aviso")]
	p.show(w, r, http.StatusOK, "lote", page)
	return nil
}

// readPanelQuery is readQuery for what forms send: a field without a value
// counts as missing, and a selection has many members.
func readPanelQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, malformed("consulta_invalida", "La dirección no se puede leer.")
	}
	members := query["socio_ids"]
	delete(query, "socio_ids")
	for name, values := range query {
		if slices.Equal(values, []string{""}) {
			delete(query, name)
		}
	}
	query, err = readQuery(query.Encode(), "estado", "pagina", "socio", "aviso", "confirmar")
	if err == nil && len(members) > 0 {
		query["socio_ids"] = members
	}
	return query, err
}

// maxSocio is the largest number of a member.
const maxSocio = 1<<31 - 1

func listRequest(query url.Values) (billingmail.ListRequest, error) {
	var request billingmail.ListRequest
	var err error
	if request.Estado, err = readEstado(query); err != nil {
		return request, err
	}
	if request.Page, err = readNumber(query, "pagina", 1, maxPage); err != nil {
		return request, err
	}
	if query.Has("socio") { // as people write it
		query.Set("socio", strings.TrimLeft(strings.TrimSpace(query.Get("socio")), "0"))
	}
	socio, err := readNumber(query, "socio", 0, maxSocio)
	request.Socio = int64(socio)
	return request, err
}

// lotePage reads all that the page shows.
func (p *panel) lotePage(r *http.Request, c call, request billingmail.ListRequest) (lotePage, error) {
	request.Schema, request.LoteID = c.schema, c.loteID
	progress, err := p.Service.Progress(r.Context(), c.schema, c.loteID)
	if err != nil {
		return lotePage{}, err
	}
	list, err := p.Service.List(r.Context(), request)
	if err != nil {
		return lotePage{}, err
	}
	progress.Resumen = list.Resumen // as of one moment, all over the page
	page := lotePage{Schema: c.schema, LoteID: c.loteID, Estado: request.Estado, Socio: request.Socio, Zone: zoneName(p.TimeZone)}
	page.tell(progress, p.TimeZone)
	page.fill(list, p.TimeZone)
	page.address(linksTo(r, c))
	return page, nil
}

// tell says in words where the lote stands.
func (l *lotePage) tell(progress billingmail.Progress, zone *time.Location) {
	l.Resumen, l.Active, l.Cancelling = progress.Resumen, progress.Active, progress.Cancelling
	l.Total = progress.Resumen.Total()
	l.Done = l.Total - progress.Resumen.Pendiente
	l.RequestedBy = progress.RequestedBy
	l.Headline, l.Announcement, l.Pace = headline(progress, zone), announcement(progress, zone), pace(progress)
}

// fill takes over a page of the list.
func (l *lotePage) fill(list billingmail.List, zone *time.Location) {
	l.Page, l.Pages = list.Page, (list.Total+list.PerPage-1)/list.PerPage
	for _, entry := range list.Entries {
		row := entryRow{EmailDetalle: entry}
		if !entry.UltimoIntento.IsZero() {
			row.When = moment(entry.UltimoIntento, zone)
		}
		l.Entries = append(l.Entries, row)
	}
}

// address fills in where the links lead.
func (l *lotePage) address(to links) {
	filtered := map[string]string{"estado": string(l.Estado)}
	found := map[string]string{"estado": string(l.Estado)}
	if l.Socio != 0 {
		found["socio"] = strconv.FormatInt(l.Socio, 10)
	}
	turn := func(page int) string {
		if delete(found, "pagina"); page > 1 {
			found["pagina"] = strconv.Itoa(page)
		}
		return to.with(found)
	}
	l.Base, l.Self, l.All = to.page, turn(l.Page), to.with(filtered)
	if l.Page > 1 {
		l.Prev = turn(max(1, min(l.Page-1, l.Pages)))
	}
	if l.Page < l.Pages {
		l.Next = turn(l.Page + 1)
	}
	for _, e := range estados {
		l.Filters = append(l.Filters, filter{
			ID: "filtro-" + string(e.estado), Name: e.name, Address: to.with(map[string]string{"estado": string(e.estado)}),
			Count: countOf(l.Resumen, e.estado), Current: l.Estado == e.estado && l.Socio == 0,
		})
	}
}

func countOf(r billingmail.Resumen, estado billingmail.Estado) int {
	switch estado {
	case billingmail.Pendiente:
		return r.Pendiente
	case billingmail.Enviado:
		return r.Enviado
	case billingmail.Error:
		return r.Error
	case billingmail.Omitido:
		return r.Omitido
	}
	return r.Total()
}
