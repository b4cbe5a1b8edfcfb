package notify

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMoment(t *testing.T) {
	t.Parallel()
	montevideo, err := time.LoadLocation("America/Montevideo")
	require.NoError(t, err)
	at := time.Date(2026, time.January, 1, 2, 4, 59, 0, time.UTC)
	for want, zone := range map[string]*time.Location{
		"1 de enero de 2026 a las 02:04 (UTC)":                     nil,
		"31 de diciembre de 2025 a las 23:04 (America/Montevideo)": montevideo,
		"31 de diciembre de 2025 a las 22:34 (UTC-03:30)":          time.FixedZone("", -int(3.5*3600)),
		"1 de enero de 2026 a las 03:04 (UTC+01:00)":               time.FixedZone("Local", 3600),
	} {
		assert.Equal(t, want, moment(at, zone))
	}
	assert.Contains(t, moment(time.Date(2026, time.September, 9, 0, 0, 0, 0, time.UTC), nil), "9 de septiembre de 2026 a las 00:00")
}
