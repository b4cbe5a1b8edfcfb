package httpapi

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/buzon-go/buzon/billingmail"
)

// What a form can ask for besides members, in the field "todos" and, before
// that, in the parameter "confirmar".
const (
	everybodyFailed = "error"
	everybody       = "todos"
	selectedOnes    = "seleccion"
)

// A confirmPage asks before something is sent.
type confirmPage struct {
	Schema  string
	LoteID  int64
	Title   string
	Count   int    // how many people get an e-mail
	Again   int    // how many of them have it already
	Members string // who was selected; empty for a selection by estado
	Form    url.Values
	Base    string // the address of the lote
}

// confirm asks whether to send, and says to how many people.
func (p *panel) confirm(w http.ResponseWriter, r *http.Request, c call, query url.Values) error {
	page := confirmPage{Schema: c.schema, LoteID: c.loteID, Base: linksTo(r, c).page}
	form, err := page.ask(query)
	if err != nil {
		return err
	}
	list, err := p.Service.List(r.Context(), billingmail.ListRequest{Schema: c.schema, LoteID: c.loteID, PerPage: 1})
	if err != nil {
		return err
	}
	request, err := p.request(r.Context(), c, form)
	if err == nil {
		page.Count, err = p.Service.CountRecipients(r.Context(), request)
	}
	if err != nil {
		return p.failOnLote(w, r, c, err)
	}
	if form.Get("todos") == everybody {
		page.Again = min(list.Resumen.Enviado, page.Count)
	}
	p.show(w, r, http.StatusOK, "confirm", page)
	return nil
}

// ask fills in what is asked, and returns the form that answers it.
func (c *confirmPage) ask(query url.Values) (url.Values, error) {
	form := url.Values{}
	switch query.Get("confirmar") {
	case everybodyFailed:
		c.Title = "Reenviar a todos los que fallaron"
		form.Set("todos", everybodyFailed)
	case everybody:
		c.Title = "Reenviar todo el lote"
		form.Set("todos", everybody)
	case selectedOnes:
		c.Title = "Reenviar a los seleccionados"
		ids, err := readMembers(query["socio_ids"])
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			form.Add("socio_ids", strconv.FormatInt(id, 10))
		}
		if len(ids) > 0 {
			c.Members = members(ids)
		}
	default:
		return nil, malformed("consulta_invalida", "confirmar tiene que ser error, todos o seleccion.")
	}
	c.Form = form
	return form, nil
}

var errNobodySelected = problem{
	Status: http.StatusUnprocessableEntity, Code: "seleccion_vacia", Detail: "No se eligió a ningún socio: hay que marcar al menos uno.",
}

// resend starts what the form asks for.
func (p *panel) resend(w http.ResponseWriter, r *http.Request, c call) error {
	form, err := p.readForm(w, r, "socio_ids", "todos")
	if err != nil {
		return err
	}
	started, err := p.start(r.Context(), c, form)
	if err != nil {
		return p.failOnLote(w, r, c, err)
	}
	p.log.Info("buzon: a lote is being sent", logRequest, requestID(r.Context()), logSchema, c.schema, logLote, c.loteID,
		"job_id", started.JobID, "entries", started.EntriesCount, "by", c.principal.Name)
	backTo(w, r, c, "enviado")
	return nil
}

func (p *panel) start(ctx context.Context, c call, form url.Values) (billingmail.Resend, error) {
	request, err := p.request(ctx, c, form)
	if err != nil {
		return billingmail.Resend{}, err
	}
	return p.Service.Resend(ctx, request)
}

// request is what a form asks for.
func (p *panel) request(ctx context.Context, c call, form url.Values) (billingmail.ResendRequest, error) {
	ids, err := p.selection(ctx, c, form)
	return billingmail.ResendRequest{Schema: c.schema, LoteID: c.loteID, SocioIDs: ids, RequestedBy: c.principal.Name}, err
}

// selection returns the members that a form asks for; nil means the whole lote.
func (p *panel) selection(ctx context.Context, c call, form url.Values) ([]int64, error) {
	switch all := form["todos"]; {
	case len(all) == 0:
		ids, err := readMembers(form["socio_ids"])
		if err == nil && len(ids) == 0 {
			err = errNobodySelected
		}
		return ids, err
	case len(all) == 1 && all[0] == everybody && !form.Has("socio_ids"):
		return nil, nil
	case len(all) == 1 && all[0] == everybodyFailed && !form.Has("socio_ids"):
		return p.failed(ctx, c)
	}
	return nil, malformed("cuerpo_invalido", "El formulario tiene que nombrar socios, o pedir todos=error o todos=todos.")
}

// maxFailed is how many members a resend of those who failed selects.
const maxFailed = 100_000

// failed returns whose e-mails have failed.
func (p *panel) failed(ctx context.Context, c call) ([]int64, error) {
	var ids []int64
	for entry, err := range p.Service.Export(ctx, c.schema, c.loteID, billingmail.Error) {
		if err != nil {
			return nil, err
		}
		if ids = append(ids, entry.SocioID); len(ids) > maxFailed {
			return nil, problem{
				Status: http.StatusUnprocessableEntity, Code: "demasiados_socios",
				Detail: fmt.Sprintf("Fallaron más de %s correos: conviene reenviar todo el lote.", number(maxFailed)),
			}
		}
	}
	if len(ids) == 0 {
		return nil, problem{
			Status: http.StatusUnprocessableEntity, Code: "seleccion_vacia", Detail: "No hay correos con error: no hay nada para reenviar.",
		}
	}
	return ids, nil
}

func readMembers(texts []string) ([]int64, error) {
	ids := make([]int64, 0, len(texts))
	for _, text := range texts {
		id, err := positive("socio_ids", text)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// cancel ends the active job.
func (p *panel) cancel(w http.ResponseWriter, r *http.Request, c call) error {
	if _, err := p.readForm(w, r); err != nil {
		return err
	}
	_, ended, err := p.Service.Cancel(r.Context(), c.schema, c.loteID, c.principal.Name)
	switch {
	case err != nil:
		return p.failOnLote(w, r, c, err)
	case ended:
		backTo(w, r, c, "cancelado")
	default:
		backTo(w, r, c, "cancelando")
	}
	return nil
}

// backTo sends the browser to the lote's page, so that a reload does nothing
// again. http.Redirect would not know what the handler is mounted under.
func backTo(w http.ResponseWriter, r *http.Request, c call, notice string) {
	w.Header().Set("Location", linksTo(r, c).with(map[string]string{"aviso": notice}))
	w.WriteHeader(http.StatusSeeOther)
}

// formType is what a form without files is sent as.
const formType = "application/x-www-form-urlencoded"

// readForm reads a form that has no other fields than those.
func (p *panel) readForm(w http.ResponseWriter, r *http.Request, fields ...string) (url.Values, error) {
	if mediaType, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mediaType != formType {
		return nil, problem{Status: http.StatusUnsupportedMediaType, Code: "tipo_no_admitido", Detail: "Esta dirección admite solo formularios."}
	}
	r.Body = http.MaxBytesReader(w, r.Body, p.MaxBody)
	err := r.ParseForm()
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, problem{
			Status: http.StatusRequestEntityTooLarge, Code: "cuerpo_demasiado_grande",
			Detail: "El formulario es demasiado grande: conviene elegir menos socios, o todo el lote.",
		}
	}
	if err != nil {
		return nil, malformed("cuerpo_invalido", "El formulario no se pudo leer.")
	}
	for name := range r.PostForm {
		if !slices.Contains(fields, name) {
			return nil, malformed("cuerpo_invalido", "El formulario no tiene el campo %q.", name)
		}
	}
	return r.PostForm, nil
}
