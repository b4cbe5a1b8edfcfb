package smtp_test

import (
	"context"
	"fmt"
	netmail "net/mail"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func Example() {
	server, err := smtptest.NewServer(smtptest.Config{TLS: smtptest.StartTLS, Username: "robot", Password: "hunter2"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	transport, err := smtp.New(smtp.Config{Integrations: smtp.Single(smtp.Integration{
		Host:     "127.0.0.1",
		Port:     server.Port(),
		Username: "robot",
		Password: "hunter2",
		RootCAs:  server.RootCAs(), // a real server's is known to the system
	})})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer transport.Close(ctx)

	receipt, err := transport.Send(ctx, &mail.Message{
		Tenant:  "acme",
		From:    netmail.Address{Name: "Acme", Address: "no-reply@acme.example"},
		To:      netmail.Address{Name: "Ana", Address: "ana@example.net"},
		Subject: "¡Bienvenida!",
		Text:    "Hola, Ana.",
	}, func(context.Context) error {
		fmt.Println("everything but the final dot is on the wire")
		return nil
	})
	fmt.Println(receipt.Response, err)
	fmt.Println(server.Messages()[0].Subject())
	// Output:
	// everything but the final dot is on the wire
	// 2.0.0 OK: queued <nil>
	// ¡Bienvenida!
}
