package diagnosis_test

import (
	"context"
	"fmt"
	netmail "net/mail"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// A test e-mail that an administrator asked for, and what the page says of it.
func Example() {
	server, err := smtptest.NewServer(smtptest.Config{Rules: []smtptest.Rule{{
		At:    smtptest.Rcpt,
		Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "<ana@example.net>: user unknown"},
	}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	transport, err := smtp.New(smtp.Config{Integrations: smtp.Single(
		smtp.Integration{Host: "127.0.0.1", Port: server.Port(), TLS: smtp.Plaintext})})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	defer transport.Close(ctx)

	_, err = transport.Send(ctx, &mail.Message{
		Tenant:  "acme",
		From:    netmail.Address{Address: "no-reply@acme.example"},
		To:      netmail.Address{Address: "ana@example.net"},
		Subject: "Prueba",
		Text:    "Este es un mensaje de prueba.",
	}, nil)
	d := diagnosis.OfError(err)
	fmt.Println(d.Cause)
	fmt.Println(d.Text("es-AR"))
	// Output:
	// recipient_refused
	// La dirección del destinatario no existe, no recibe mensajes o está mal escrita. Conviene verificarla con esa persona y corregirla. El servidor dijo: «…: user unknown» (código 550 5.1.1).
}
