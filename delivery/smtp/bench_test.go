package smtp

import (
	"strings"
	"testing"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// BenchmarkSend sends messages of 4 kB over 16 connections.
func BenchmarkSend(b *testing.B) {
	server, err := smtptest.NewServer(smtptest.Config{Keep: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	transport, err := New(Config{Integrations: Single(plain(server.Port())), MaxConnections: 16, MaxMessagesPerConnection: 1000})
	if err != nil {
		b.Fatal(err)
	}
	defer transport.Close(b.Context())
	m := newMessage()
	m.Text = strings.Repeat(strings.Repeat("x", 70)+"\n", 58)
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := transport.Send(b.Context(), m, nil); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
