package notifytest_test

import (
	"testing"

	"github.com/buzon-go/buzon/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
