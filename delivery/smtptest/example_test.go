package smtptest_test

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/emersion/go-smtp"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

func Example() {
	server, err := smtptest.NewServer(smtptest.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	// Any SMTP client does; the library's own is package delivery/smtp.
	conn, err := net.Dial("tcp", server.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	client := smtp.NewClient(conn)
	defer client.Close()
	message := "Subject: Hello\r\nMessage-ID: <7@example.org>\r\n\r\nHow are you?\r\n"
	if err := client.SendMail("a@example.org", []string{"b@example.net"}, strings.NewReader(message)); err != nil {
		fmt.Println(err)
		return
	}

	messages, err := server.WaitForMessages(context.Background(), 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(messages[0].To, messages[0].Subject(), server.Copies("7@example.org"))
	// Output: [b@example.net] Hello 1
}

func ExampleRawPeer() {
	peer, err := smtptest.NewRawPeer(func(c *smtptest.Conversation) {
		c.Until(smtptest.Rcpt) // be a good server up to RCPT TO
		c.Reply("450 4.2.0 greylisted, come back later")
		c.Serve() // and a good server again
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer peer.Close()

	conn, err := net.Dial("tcp", peer.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	client := smtp.NewClient(conn)
	defer client.Close()
	fmt.Println(client.SendMail("a@example.org", []string{"b@example.net"}, strings.NewReader("Subject: x\r\n\r\nx\r\n")))
	// Output: SMTP error 450: greylisted, come back later
}
