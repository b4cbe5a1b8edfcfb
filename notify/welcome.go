package notify

import (
	"context"
	"fmt"
)

// welcomeData is what the view of the welcome shows.
type welcomeData struct {
	identity
	Recipient string // empty for without a name
}

// SendWelcome sends a new user the welcome, once for ever: its key is
// welcome:{tenant_code}:{user_id}. What the error means is said in the package
// documentation.
func (s *MailService) SendWelcome(ctx context.Context, event UserRegistered) error {
	if err := valid(event); err != nil {
		return err
	}
	tenant, err := s.tenant(ctx, event.TenantCode)
	if err != nil {
		return err
	}
	brand, err := accountBrand(event.TenantCode, tenant)
	if err != nil {
		return err
	}
	user, err := s.config.Users.User(ctx, event.TenantCode, event.UserID)
	if err != nil {
		return loaded(fmt.Sprintf("user %q of tenant %q", event.UserID, event.TenantCode), err)
	}
	to, err := recipient(user)
	if err != nil {
		return err
	}
	content, err := s.welcome.render(welcomeData{identity: identityOf(brand), Recipient: to.Name})
	if err != nil {
		return err
	}
	return s.send(ctx, email{
		tenant: event.TenantCode, kind: KindWelcome, key: []string{KindWelcome, event.TenantCode, event.UserID},
		from: brand.from(), replyTo: brand.replyTo(), to: to, content: content,
	})
}

func welcomeSamples() []welcomeData {
	return []welcomeData{
		{identity: identityOf(sampleBrand()), Recipient: "Ana"},
		{identity: identityOf(Brand{Name: "Club"})},
	}
}
