package notifytest

import (
	"context"

	"github.com/buzon-go/buzon/notify"
)

// checkEventDates checks EventDates.
func (k *kit) checkEventDates(ctx context.Context) {
	if k.host.EventDates == nil {
		return
	}
	k.eventDates().run(ctx)
	k.list().check(ctx)
}

func (k *kit) eventDates() *lookup[notify.EventDate] {
	return &lookup[notify.EventDate]{
		kit: k, method: "EventDates.EventDate", finds: "the date", args: []string{k.host.TenantCode, k.host.EventDateID},
		ask: func(ctx context.Context, args []string) (notify.EventDate, error) {
			return k.host.EventDates.EventDate(ctx, args[0], args[1])
		},
		check: notify.EventDate.Validate, differ: fieldsThatDiffer[notify.EventDate],
	}
}
