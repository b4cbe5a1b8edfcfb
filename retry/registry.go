package retry

import (
	"errors"
	"fmt"
	"sync"
)

// TypeEmailNotificationLote is the job type of the billing e-mails of a lote
// (a billing batch). [NewRegistry] registers it with the exponential strategy.
const TypeEmailNotificationLote = "email_notification_lote"

// A Registry maps job types to strategies, with a fallback for the types that
// have none. It is safe for concurrent use.
type Registry struct {
	fallback RetryStrategyInterface

	mu     sync.RWMutex
	byType map[string]RetryStrategyInterface
}

// NewRegistry returns a registry that holds the exponential strategy, with the
// process's environment, for [TypeEmailNotificationLote], and fallback for all
// other types. A nil fallback means the same exponential strategy. The error
// is that of [FromEnv].
func NewRegistry(fallback RetryStrategyInterface) (*Registry, error) {
	settings, err := FromEnv()
	if err != nil {
		return nil, err
	}
	exponential := settings.Strategy()
	if fallback == nil {
		fallback = exponential
	}
	return &Registry{
		fallback: fallback,
		byType:   map[string]RetryStrategyInterface{TypeEmailNotificationLote: exponential},
	}, nil
}

// Register sets the strategy of a job type, in place of the one that it had.
// An empty type or a nil strategy is an error and changes nothing.
func (r *Registry) Register(jobType string, strategy RetryStrategyInterface) error {
	if jobType == "" {
		return errors.New("retry: register: the job type is empty")
	}
	if strategy == nil {
		return fmt.Errorf("retry: register %q: the strategy is nil", jobType)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.byType[jobType] = strategy
	return nil
}

// Strategy returns the strategy of a job type, or the fallback.
func (r *Registry) Strategy(jobType string) RetryStrategyInterface {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if s, ok := r.byType[jobType]; ok {
		return s
	}
	return r.fallback
}
