package main

import (
	"os"
	"testing"

	"github.com/buzon-go/buzon/internal/pgtest"
)

// envChild makes the test binary be the server, for the tests that need a
// process to send signals to.
const envChild = "BUZON_SAMPLE_SERVER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		main()
		return
	}
	pgtest.Main(m)
}
