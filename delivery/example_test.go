package delivery_test

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
)

// announcer is a handler that makes one job for each member of a tenant.
type announcer struct {
	queue *delivery.Queue

	// members returns at most limit ids above after, in their order.
	members func(ctx context.Context, tenant string, after int64, limit int) ([]int64, error)
}

// announced is the progress: the last member who has a job.
type announced struct{ LastMember int64 }

// Handle goes on behind the last batch that was committed, in whatever attempt
// and process that was.
func (a announcer) Handle(ctx context.Context, job *delivery.Job) error {
	var done announced
	if job.Progress != nil {
		if err := json.Unmarshal(job.Progress, &done); err != nil {
			return err
		}
	}
	for {
		members, err := a.members(ctx, job.Tenant, done.LastMember, 1000)
		if err != nil || len(members) == 0 {
			return err
		}
		children := make([]delivery.JobParams, len(members))
		for i, id := range members {
			children[i] = delivery.JobParams{Type: "announce_to_member", Tenant: job.Tenant, Payload: map[string]int64{"member_id": id}}
		}
		next := announced{LastMember: members[len(members)-1]}
		err = a.queue.BeginFunc(ctx, func(tx pgx.Tx) error {
			if _, err := a.queue.InsertMany(ctx, tx, children); err != nil {
				return err
			}
			return a.queue.SaveProgress(ctx, tx, job, next)
		})
		if err != nil {
			return err // nothing of the batch is there: the next attempt writes it
		}
		done = next
	}
}

// One job becomes a job for each member, in batches. It can be cut anywhere.
func Example_fanOut() {
	var queue *delivery.Queue // of delivery.NewQueue
	var members func(ctx context.Context, tenant string, after int64, limit int) ([]int64, error)

	_ = delivery.RunnerConfig{JobTypes: []delivery.JobType{
		{Name: "announce", Handler: announcer{queue: queue, members: members}},
	}}
}
