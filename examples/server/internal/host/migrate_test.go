package host_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
)

// firstSchema is that of the first version, before there were purchases.
//
//go:embed testdata/first_schema.sql
var firstSchema string

// A data folder of an older version starts, keeps its users, and gets what is
// new; at the next start nothing changes.
func TestOlderTablesAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	_, err := pool.Exec(t.Context(), firstSchema)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO sample_host.users (tenant_code, name, email) VALUES ('club-norte', 'Eva', 'eva@example.net')`)
	require.NoError(t, err)

	h := newHost(t, pool)
	user, err := h.User(t.Context(), "club-norte", "1")
	require.NoError(t, err)
	assert.Equal(t, "Eva", user.Name)
	assert.Empty(t, user.Language, "she reads what the tenant writes")
	tenant, err := h.Tenant(t.Context(), "club-norte")
	require.NoError(t, err)
	require.NoError(t, tenant.Validate())
	assert.Equal(t, "es-UY", tenant.Language)
	assert.Equal(t, "#1d4ed8", tenant.Brand.AccentColor)
	assert.Equal(t, "http://127.0.0.1:8080/logos/club-norte.png", tenant.Brand.LogoURL)
	assert.NotEmpty(t, tenant.Brand.Logo)
	assert.NotEmpty(t, tenant.WebsiteType.Brand.Logo)

	before, err := h.ListDates(t.Context())
	require.NoError(t, err)
	assert.Len(t, before, 6)
	require.NoError(t, h.Migrate(t.Context()))
	after, err := h.ListDates(t.Context())
	require.NoError(t, err)
	assert.Equal(t, before, after)
}
