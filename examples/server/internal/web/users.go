package web

import (
	"errors"
	"net/http"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// usersPage is the form of signing up and the users.
type usersPage struct {
	Form      signUpForm
	Faults    faults
	Tenants   []host.ListedTenant
	Languages []language
	Users     []host.ListedUser
}

func (s *site) users(w http.ResponseWriter, r *http.Request) error {
	return s.showUsers(w, r, http.StatusOK, signUpForm{Language: languages[0].Tag}, nil)
}

func (s *site) showUsers(w http.ResponseWriter, r *http.Request, status int, form signUpForm, wrong faults) error {
	tenants, err := s.Host.ListTenants(r.Context())
	if err != nil {
		return err
	}
	users, err := s.Host.ListUsers(r.Context())
	if err != nil {
		return err
	}
	return s.show(w, r, status, "users", usersPage{Form: form, Faults: wrong, Tenants: tenants, Languages: languages, Users: users})
}

func (s *site) signUp(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	form := readSignUpForm(r.PostForm)
	tenants, err := s.Host.ListTenants(r.Context())
	if err != nil {
		return err
	}
	if wrong := form.check(tenants); len(wrong) > 0 {
		return s.showUsers(w, r, http.StatusUnprocessableEntity, form, wrong)
	}
	err = s.Host.SignUp(r.Context(), host.NewUser{
		TenantCode: form.Tenant, Name: form.Name, Email: form.Email, Language: form.Language,
	})
	if errors.Is(err, host.ErrEmailTaken) {
		return s.showUsers(w, r, http.StatusConflict, form, faults{fieldEmail: "Ya hay una cuenta con este correo en este sitio."})
	}
	if err != nil {
		return err
	}
	return done(w, r, "/", "alta")
}

func (s *site) requestReset(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	if err := s.Host.RequestReset(r.Context(), id, delay(r)); err != nil {
		return err
	}
	if delay(r) > 0 {
		return done(w, r, "/", "luego")
	}
	return done(w, r, "/", "codigo")
}

func (s *site) cancelReset(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	if err := s.Host.CancelReset(r.Context(), id); err != nil {
		return err
	}
	return done(w, r, "/", "anulado")
}
