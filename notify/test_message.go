package notify

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/mail/view"
)

// TestData is what the view "test" shows.
type TestData struct {
	RequestedAt time.Time // in the tenant's zone
}

// IntegrationValidationData is what the view "integration_validation" shows.
type IntegrationValidationData struct {
	RequestedAt time.Time // in the tenant's zone
}

// A TestRequest asks for an e-mail that shows whether e-mails go out.
type TestRequest struct {
	// TenantCode is in whose name it is sent, through whose integration.
	// Required.
	TenantCode string
	// To is the address that it goes to. Empty means the tenant's sender.
	To string
	// Language is that of the e-mail and of the explanation: a BCP 47 tag.
	// Empty, or one that is none of the views', means the tenant's.
	Language string
	// Via sends it, such as a delivery/smtp Transport over settings that are
	// not saved yet. nil means what the mailer sends through.
	Via mail.Sender
}

// A TestResult is what became of such an e-mail.
type TestResult struct {
	// Diagnosis says what happened: its Cause for programs, the server's own
	// words in Server.
	diagnosis.Diagnosis
	// Explanation says it in words that whoever administers the tenant
	// understands, with what to do about it.
	Explanation string
}

// Accepted reports whether the server has taken the e-mail.
func (r TestResult) Accepted() bool { return r.Cause == diagnosis.Accepted }

// SendTest sends a test e-mail in the tenant's identity, every time that it is
// called: it has no business key and leaves no record. That the server refused
// it, or could not be reached, is a result and no error; an error is a tenant,
// an address or a brand that cannot be used, or a host that does not answer.
//
// It returns when the server has answered; ctx bounds it. Let a minute be
// enough, since somebody waits for it.
func (s *MailService) SendTest(ctx context.Context, request TestRequest) (TestResult, error) {
	return sendTest(ctx, s, KindTest, s.views.test, request, func(at time.Time) TestData { return TestData{RequestedAt: at} })
}

// SendIntegrationValidation sends the e-mail that shows that a tenant's SMTP
// integration works, like [MailService.SendTest]; set Via to try settings before
// they are saved.
func (s *MailService) SendIntegrationValidation(ctx context.Context, request TestRequest) (TestResult, error) {
	return sendTest(ctx, s, KindIntegrationValidation, s.views.integrationValidation, request,
		func(at time.Time) IntegrationValidationData { return IntegrationValidationData{RequestedAt: at} })
}

func sendTest[D any](ctx context.Context, s *MailService, kind string, v *view.View[D], request TestRequest, data func(time.Time) D) (TestResult, error) {
	message, locale, err := testMessage(ctx, s, v, request, data)
	if err != nil {
		return TestResult{}, fmt.Errorf("notify: %s of tenant %q: %w", kind, request.TenantCode, err)
	}
	sender := request.Via
	if sender == nil {
		sender = s.config.Mailer.Sender()
	}
	receipt, err := sender.Send(ctx, &message, nil)
	result := TestResult{Diagnosis: diagnosis.OfReceipt(receipt)}
	if err != nil {
		result.Diagnosis = diagnosis.OfError(err)
	}
	result.Explanation = result.Text(locale.Language())
	return result, nil
}

func testMessage[D any](ctx context.Context, s *MailService, v *view.View[D], request TestRequest, data func(time.Time) D) (mail.Message, view.Locale, error) {
	tenant, err := s.tenant(ctx, request.TenantCode)
	if err != nil {
		return mail.Message{}, view.Locale{}, err
	}
	brand, err := tenant.brand(request.TenantCode, false)
	if err != nil {
		return mail.Message{}, view.Locale{}, err
	}
	to, err := mail.ParseAddress(cmp.Or(request.To, brand.From.Address))
	if err != nil {
		return mail.Message{}, view.Locale{}, fmt.Errorf("To: %w", err)
	}
	preferred := []string{request.Language, tenant.Language}
	now := time.Now()
	content, err := v.Render(ctx, brand, view.Reader{Languages: preferred}, data(tenant.in(now)))
	if err != nil {
		return mail.Message{}, view.Locale{}, err
	}
	message := newMessage(brand, to, content, nil)
	message.Tenant, message.Date = request.TenantCode, now
	_, locale := view.Match(v.Languages(), preferred...)
	return message, locale, nil
}
