package smtptest

import "github.com/emersion/go-sasl"

// loginServer is the server's side of AUTH LOGIN
// (draft-murchison-sasl-login), which go-sasl does not have.
type loginServer struct {
	authenticate func(username, password string) error
	username     *string
	asked        bool
}

// Next implements sasl.Server.
func (l *loginServer) Next(response []byte) (challenge []byte, done bool, err error) {
	switch {
	case l.username != nil:
		return nil, true, l.authenticate(*l.username, string(response))
	case response == nil && l.asked:
		return nil, false, sasl.ErrUnexpectedClientResponse
	case response == nil:
		l.asked = true
		return []byte("Username:"), false, nil
	}
	username := string(response)
	l.username = &username
	return []byte("Password:"), false, nil
}
