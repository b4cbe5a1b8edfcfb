package retry

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// The environment variables of the contract, section 2.
const (
	// EnvMaxRetries holds how often a job is retried: a whole number from 0,
	// which means not at all.
	EnvMaxRetries = "MAIL_RETRY_MAX"
	// EnvBaseDelay holds the first retry's delay: whole seconds, at least 1.
	EnvBaseDelay = "MAIL_RETRY_BASE_DELAY"
)

// What holds where the environment says nothing.
const (
	DefaultMaxRetries = 5
	DefaultBaseDelay  = 60 * time.Second
)

// maxFromEnv keeps what the environment gives within what a column of type
// integer and, in seconds, a time.Duration can hold.
const maxFromEnv = 1<<31 - 1

// Settings are the retry settings of a process.
type Settings struct {
	MaxRetries int           // how often a job is retried; 0 means never
	BaseDelay  time.Duration // the first retry's delay
}

// FromEnv reads [EnvMaxRetries] and [EnvBaseDelay]. A variable that is unset
// or empty has its default. Any other value that is not in range is an error
// that names the variable and the value; faults in both are reported together.
func FromEnv() (Settings, error) {
	maxRetries, err1 := intFromEnv(EnvMaxRetries, DefaultMaxRetries, 0)
	seconds, err2 := intFromEnv(EnvBaseDelay, int(DefaultBaseDelay/time.Second), 1)
	if err := errors.Join(err1, err2); err != nil {
		return Settings{}, err
	}
	return Settings{MaxRetries: maxRetries, BaseDelay: time.Duration(seconds) * time.Second}, nil
}

// Strategy returns the exponential strategy with the settings' base delay.
func (s Settings) Strategy() ExponentialBackoffStrategy {
	return ExponentialBackoffStrategy{BaseDelay: s.BaseDelay}
}

func intFromEnv(name string, fallback, low int) (int, error) {
	text := os.Getenv(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.ParseUint(text, 10, 31) // no sign, no spaces, no underscores
	if err != nil || int(n) < low {
		return 0, fmt.Errorf("retry: environment variable %s=%q: want a whole number from %d to %d", name, text, low, maxFromEnv)
	}
	return int(n), nil
}
