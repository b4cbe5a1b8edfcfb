package notify

import (
	"context"
	"fmt"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// listener returns what a runner needs to hand the events of one Go type to
// handle, which must be idempotent or tolerate a repeat: read the event, check
// that it is one, and that it is the tenant's whose job it came in.
func listener[E Event](handle func(context.Context, *delivery.Job, E) error) delivery.JobType {
	var none E
	kept := none.Type()
	handler := func(ctx context.Context, job *delivery.Job) error {
		var event E
		if err := job.Decode(kept.version(), &event); err != nil {
			return err
		}
		if err := valid(event); err != nil {
			return err
		}
		if event.Tenant() != job.Tenant {
			return retry.Permanent(fmt.Errorf("notify: %s: TenantCode is %q in a job of tenant %q",
				kept.JobType, event.Tenant(), job.Tenant))
		}
		return handle(ctx, job, event)
	}
	return delivery.JobType{Name: kept.JobType, Handler: delivery.HandlerFunc(handler)}
}
