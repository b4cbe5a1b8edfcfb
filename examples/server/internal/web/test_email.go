package web

import (
	"context"
	"net/http"
	"time"

	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/notify"
)

// testPage is the form of a test e-mail, and what became of it.
type testPage struct {
	Form      testForm
	Faults    faults
	Tenants   []host.ListedTenant
	Languages []language
	Result    *notify.TestResult // nil before it was sent
}

func (s *site) askTest(w http.ResponseWriter, r *http.Request) error {
	page, err := s.testPage(r)
	if err != nil {
		return err
	}
	page.Form = testForm{Language: languages[0].Tag, TLS: smtp.RequireSTARTTLS.String()}
	return s.show(w, r, http.StatusOK, "test", page)
}

func (s *site) testPage(r *http.Request) (testPage, error) {
	tenants, err := s.Host.ListTenants(r.Context())
	return testPage{Tenants: tenants, Languages: languages}, err
}

// testLimit leaves time for the answer before the server cuts the request off.
const testLimit = 40 * time.Second

// sendTest sends the e-mail at once, without a job and without a record, and
// shows the result in its own answer.
func (s *site) sendTest(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	page, err := s.testPage(r)
	if err != nil {
		return err
	}
	page.Form = readTestForm(r.PostForm)
	candidate, wrong := page.Form.check(page.Tenants)
	if len(wrong) > 0 {
		page.Faults = wrong
		return s.show(w, r, http.StatusUnprocessableEntity, "test", page)
	}
	ctx, cancel := context.WithTimeout(r.Context(), testLimit)
	defer cancel()
	result, err := s.tried(ctx, page.Form, candidate)
	if err != nil {
		return err
	}
	page.Result = &result
	return s.show(w, r, http.StatusOK, "test", page)
}

// tried sends what the form asks for: through the candidate, settings that are
// not saved yet, or where that is nil as the tenant's e-mails go.
func (s *site) tried(ctx context.Context, form testForm, candidate *smtp.Integration) (notify.TestResult, error) {
	request := notify.TestRequest{TenantCode: form.Tenant, To: form.To, Language: form.Language}
	if candidate != nil {
		transport, err := smtp.New(smtp.Config{Integrations: smtp.Single(*candidate), Logger: s.Logger})
		if err != nil {
			return notify.TestResult{}, err
		}
		defer func() {
			if err := transport.Close(context.WithoutCancel(ctx)); err != nil {
				s.Logger.WarnContext(ctx, "sample server: the tried connection did not close", "error", err)
			}
		}()
		request.Via = transport
	}
	if form.Validates {
		return s.Service.SendIntegrationValidation(ctx, request)
	}
	return s.Service.SendTest(ctx, request)
}
