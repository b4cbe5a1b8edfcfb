package notify_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
)

// A listener trusts no row: it may be another version's, or somebody's own.
func TestListenersCheckWhatTheyRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	insert := func(params delivery.JobParams) int64 {
		var inserted delivery.Inserted
		err := delivery.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) (err error) {
			inserted, err = h.queue.Insert(t.Context(), tx, params)
			return err
		})
		require.NoError(t, err)
		return inserted.ID
	}
	for name, c := range map[string]struct {
		jobType, tenant, payload string
		want                     string
	}{
		"a field is missing": {
			notify.TypeUserRegistered, "acme", `{"tenant_code": "acme"}`, `notify: user_registered: UserID "" is empty`,
		},
		"null":                 {notify.TypeUserRegistered, "acme", `null`, `UserID "" is empty`},
		"an id is no string":   {notify.TypeUserRegistered, "acme", `{"tenant_code": "acme", "user_id": 7}`, "payload of type"},
		"an id holds a colon":  {notify.TypePasswordResetRequested, "acme", `{"tenant_code": "acme", "attempt_id": "a:1"}`, `AttemptID "a:1"`},
		"another tenant's job": {notify.TypeUserRegistered, "beta", `{"tenant_code": "acme", "user_id": "7"}`, `TenantCode is "acme" in a job of tenant "beta"`},
	} {
		job := h.awaitEnd(insert(delivery.JobParams{Type: c.jobType, Tenant: c.tenant, Payload: json.RawMessage(c.payload)}))
		assert.Equal(t, delivery.StateFailed, job.State, name)
		assert.Contains(t, job.LastError, c.want, name)
		assert.EqualValues(t, 1, job.LeaseNumber, name)
	}
	newer := insert(delivery.JobParams{
		Type: notify.TypeUserRegistered, Tenant: "acme", PayloadVersion: 2, Payload: json.RawMessage(`{"who": "7"}`),
	})
	job := h.await(newer, func(j *delivery.Job) bool { return j.State == delivery.StatePending && j.LastError != "" })
	assert.Contains(t, job.LastError, "payload version 2 is newer")
	assert.Zero(t, job.RetryCount, "a newer process takes it")
	assert.Zero(t, h.server.Accepted())
}
