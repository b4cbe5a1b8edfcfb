package main

import "context"

// background calls work in a goroutine and returns what ends it: that ends
// work's context, waits, and returns work's error. Where work ends by itself,
// it calls ended.
func background(work func(context.Context) error, ended func()) (end func(context.Context) error) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() {
		defer ended()
		result <- work(ctx)
	}()
	return func(context.Context) error {
		cancel()
		return <-result
	}
}
