package preview

import (
	"errors"
	"fmt"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// A Brand is an identity to show the e-mails in.
type Brand struct {
	// Name is what the pages call the brand. Required.
	Name string
	// Tenant is in whose name the e-mails are. It must be valid.
	Tenant notify.Tenant
}

// checkBrands returns all that is wrong with the brands.
func checkBrands(brands []Brand) error {
	if len(brands) == 0 {
		return errors.New("there is no brand")
	}
	var faults []error
	for i, brand := range brands {
		if view.OneLine(brand.Name, view.MaxName) == "" {
			faults = append(faults, fmt.Errorf("brand %d: Name is empty", i+1))
		}
		if err := brand.Tenant.Validate(); err != nil {
			faults = append(faults, fmt.Errorf("brand %d: %w", i+1, err))
		}
	}
	return errors.Join(faults...)
}

// identities are the brands that the tenant's e-mails have.
func (b Brand) identities() []view.Brand {
	all := []view.Brand{b.Tenant.Brand}
	if b.Tenant.WebsiteType != nil {
		all = append(all, b.Tenant.WebsiteType.Brand)
	}
	return all
}
