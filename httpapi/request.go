package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/buzon-go/buzon/billingmail"
)

func malformed(code, format string, args ...any) problem {
	return problem{Status: http.StatusBadRequest, Code: code, Detail: fmt.Sprintf(format, args...)}
}

const schemaHeader = "X-Schema"

// schemaOf reads the branch schema.
func schemaOf(header http.Header) (string, error) {
	values := header.Values(schemaHeader)
	if len(values) != 1 || values[0] == "" {
		return "", malformed("schema_requerido", "Hace falta el encabezado X-Schema, una sola vez, con la sucursal.")
	}
	if err := billingmail.CheckSchema(values[0]); err != nil {
		return "", malformed("schema_invalido", "El encabezado X-Schema no es el nombre de una sucursal.")
	}
	return values[0], nil
}

// positive reads an id: a positive whole number without sign or leading zeros.
func positive(field, text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 || strconv.FormatInt(n, 10) != text {
		return 0, malformed(field+"_invalido", "%s tiene que ser un número entero positivo.", field)
	}
	return n, nil
}

// resendBody is the body of a resend.
type resendBody struct {
	SocioIDs []int64 `json:"socio_ids"`
}

// readBody reads the optional body of a resend.
func (a *api) readBody(w http.ResponseWriter, r *http.Request) (resendBody, error) {
	var body resendBody
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.MaxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return body, problem{
			Status: http.StatusRequestEntityTooLarge, Code: "cuerpo_demasiado_grande",
			Detail: fmt.Sprintf("El cuerpo tiene más de %d bytes.", a.MaxBody),
		}
	}
	if err != nil {
		return body, malformed("cuerpo_invalido", "El cuerpo no se pudo leer.")
	}
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return body, nil
	}
	return parseBody(raw)
}

func parseBody(raw []byte) (resendBody, error) {
	var body struct {
		SocioIDs json.RawMessage `json:"socio_ids"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if raw[0] != '{' || decoder.Decode(&body) != nil || decoder.More() {
		return resendBody{}, malformed("cuerpo_invalido", `El cuerpo tiene que ser un objeto JSON como {"socio_ids": [1, 2]}, sin otros campos.`)
	}
	if body.SocioIDs == nil {
		return resendBody{}, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(body.SocioIDs, &all); err != nil || all == nil { // null is not "everybody"
		return resendBody{}, malformed("socio_ids_invalido", "socio_ids tiene que ser una lista de números enteros positivos.")
	}
	ids := make([]int64, 0, len(all))
	for i, one := range all {
		id, err := positive("socio_ids", string(one))
		if err != nil {
			return resendBody{}, malformed("socio_ids_invalido", "socio_ids[%d] tiene que ser un número entero positivo.", i)
		}
		ids = append(ids, id)
	}
	return resendBody{SocioIDs: ids}, nil
}

// readQuery reads the query of a list, whose parameters are each there at most
// once, and no others.
func readQuery(raw string, allowed ...string) (url.Values, error) {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return nil, malformed("consulta_invalida", "Los parámetros de la consulta no se pueden leer.")
	}
	for name, values := range query {
		if !slices.Contains(allowed, name) {
			return nil, malformed("consulta_invalida", "No existe el parámetro %q.", name)
		}
		if len(values) > 1 {
			return nil, malformed("consulta_invalida", "El parámetro %q está más de una vez.", name)
		}
	}
	return query, nil
}

// readEstado reads the filter, which may be missing.
func readEstado(query url.Values) (billingmail.Estado, error) {
	if !query.Has("estado") {
		return "", nil
	}
	estado := billingmail.Estado(query.Get("estado"))
	if !estado.Valid() {
		return "", malformed("estado_invalido", "estado tiene que ser pendiente, enviado, error u omitido.")
	}
	return estado, nil
}

// readNumber reads a positive number of a query, which may be missing.
func readNumber(query url.Values, name string, otherwise, limit int) (int, error) {
	if !query.Has(name) {
		return otherwise, nil
	}
	n, err := positive(name, query.Get(name))
	if err != nil {
		return 0, err
	}
	if n > int64(limit) {
		return 0, malformed(name+"_invalido", "%s tiene que ser un número de 1 a %d.", name, limit)
	}
	return int(n), nil
}
