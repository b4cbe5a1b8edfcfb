package host

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// Tenant implements notify.Tenants.
func (h *Host) Tenant(ctx context.Context, code string) (notify.Tenant, error) {
	var tenant notify.Tenant
	var zone, logo string
	var websiteType *string
	brand := &tenant.Brand
	err := h.pool.QueryRow(ctx, `
		SELECT website_type, language, time_zone, logo,
			name, website_url, primary_color, accent_color, from_address, support_email, footer
		FROM sample_host.tenants WHERE code = $1`, code).
		Scan(&websiteType, &tenant.Language, &zone, &logo,
			&brand.Name, &brand.WebsiteURL, &brand.PrimaryColor, &brand.AccentColor, &brand.From.Address, &brand.SupportEmail, &brand.Footer)
	if err != nil {
		return notify.Tenant{}, found(err)
	}
	brand.LogoURL, brand.Logo = h.logoURL(logo), Logo(logo)
	brand.From.Address = cmp.Or(h.from, brand.From.Address)
	if tenant.TimeZone, err = time.LoadLocation(zone); err != nil {
		return notify.Tenant{}, err
	}
	if websiteType != nil {
		tenant.WebsiteType, err = h.websiteType(ctx, *websiteType)
	}
	return tenant, err
}

// websiteType leaves the brand's sender empty, which means the tenant's.
func (h *Host) websiteType(ctx context.Context, code string) (*notify.WebsiteType, error) {
	var brand view.Brand
	var logo string
	err := h.pool.QueryRow(ctx, `
		SELECT logo, name, website_url, primary_color, accent_color, support_email, footer
		FROM sample_host.website_types WHERE code = $1`, code).
		Scan(&logo, &brand.Name, &brand.WebsiteURL, &brand.PrimaryColor, &brand.AccentColor, &brand.SupportEmail, &brand.Footer)
	brand.LogoURL, brand.Logo = h.logoURL(logo), Logo(logo)
	return &notify.WebsiteType{Brand: brand}, found(err)
}

// A ListedTenant is a tenant as forms offer it.
type ListedTenant struct{ Code, Name string }

// ListTenants returns all tenants by name.
func (h *Host) ListTenants(ctx context.Context) ([]ListedTenant, error) {
	rows, err := h.pool.Query(ctx, `SELECT code, name FROM sample_host.tenants ORDER BY name`)
	if err != nil {
		return nil, fmt.Errorf("host: list tenants: %w", err)
	}
	tenants, err := pgx.CollectRows(rows, pgx.RowToStructByPos[ListedTenant])
	if err != nil {
		return nil, fmt.Errorf("host: list tenants: %w", err)
	}
	return tenants, nil
}
