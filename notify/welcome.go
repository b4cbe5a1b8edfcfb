package notify

import (
	"context"
	"fmt"

	"github.com/buzon-go/buzon/retry"
)

// WelcomeData is what the view "welcome" shows: the brand's name, and how to
// address the user.
type WelcomeData struct{}

// SendWelcome sends a new user the welcome, once for ever: its key is
// welcome:{tenant_code}:{user_id}. What the error means is said in the package
// documentation.
func (s *MailService) SendWelcome(ctx context.Context, event UserRegistered) error {
	return s.welcome.send(ctx, s, event)
}

func (s *MailService) welcomeKind() Kind[UserRegistered, WelcomeData] {
	return Kind[UserRegistered, WelcomeData]{
		Name: KindWelcome, View: s.views.welcome, Account: true, OnUnknown: s.config.OnUnknown[KindWelcome],
		Key:  func(e UserRegistered) []string { return []string{e.TenantCode, e.UserID} },
		Load: s.loadWelcome,
	}
}

func (s *MailService) loadWelcome(ctx context.Context, event UserRegistered, _ Tenant) (Email[WelcomeData], error) {
	if s.config.Users == nil {
		return Email[WelcomeData]{}, retry.Permanent(errNoInterface("Users"))
	}
	what := fmt.Sprintf("user %q of tenant %q", event.UserID, event.TenantCode)
	user, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (User, error) {
		return s.config.Users.User(ctx, event.TenantCode, event.UserID)
	})
	return Email[WelcomeData]{To: user}, err
}
