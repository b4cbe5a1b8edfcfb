package pgtest

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTemplateOfManyProcesses has several sources on one server, as test
// processes that share one have, after one of them died in the middle.
func TestTemplateOfManyProcesses(t *testing.T) {
	t.Parallel()
	server := NewServer(t)
	name, err := templateName()
	require.NoError(t, err)
	observer := server.NewEmpty(t)
	_, err = observer.Exec(t.Context(), "CREATE DATABASE "+quote(name+"_unfinished"))
	require.NoError(t, err)

	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			s, err := newSource(t.Context(), server.URL("postgres"), false)
			if !assert.NoError(t, err) {
				return
			}
			defer s.close()
			got, err := s.ensureTemplate(t.Context())
			assert.NoError(t, err)
			assert.Equal(t, name, got)
		})
	}
	group.Wait()
	assert.Equal(t, []string{name}, query[[]string](t, observer,
		"SELECT array_agg(datname::text) FROM pg_database WHERE datname LIKE 'buzon_template%'"))
}
