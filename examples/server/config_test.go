package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtp"
)

func TestReadConfig(t *testing.T) {
	t.Parallel()
	c, err := readConfig(nil, settings{}.get, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, config{listen: "127.0.0.1:8080"}, c)

	c, err = readConfig([]string{"-listen", ":0"}, settings{
		"LISTEN_ADDR": "127.0.0.1:1", "DATABASE_URL": "postgres://ana@db.example/x",
		"SMTP_HOST": "smtp.example", "SMTP_USERNAME": "robot", "SMTP_PASSWORD": "hunter2",
	}.get, &bytes.Buffer{})
	require.NoError(t, err)
	assert.Equal(t, config{
		listen: ":0", databaseURL: "postgres://ana@db.example/x",
		smtp: smtpSettings{integration: smtp.Integration{
			Host: "smtp.example", TLS: smtp.RequireSTARTTLS, Username: "robot", Password: "hunter2",
		}},
	}, c, "the flag comes before the environment")
}

func TestAllFaultsAreNamedAtOnce(t *testing.T) {
	t.Setenv("MAIL_RETRY_MAX", "many")
	_, err := readConfig([]string{"-listen", "8080", "stray"}, settings{
		"DATABASE_URL": "postgres://ana:hunter2@db.example:port/x",
		"SMTP_HOST":    "smtp.example:587", "SMTP_PORT": "70000", "SMTP_TLS": "yes",
		"SMTP_PASSWORD": "hunter2", "SMTP_FROM": "ana",
	}.get, &bytes.Buffer{})
	require.Error(t, err)
	for _, named := range []string{
		"-listen", "stray", "DATABASE_URL", "SMTP_HOST", "SMTP_PORT", "SMTP_TLS", "SMTP_USERNAME", "SMTP_FROM", "MAIL_RETRY_MAX",
	} {
		assert.ErrorContains(t, err, named)
	}
	assert.NotContains(t, err.Error(), "hunter2")
}

func TestConfigFaults(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		args []string
		env  settings
		says string
	}{
		{"a port that is none", []string{"-listen", "127.0.0.1:http"}, nil, "port"},
		{"an unknown flag", []string{"-daemon"}, nil, "-daemon"},
		{"throw away what is kept", []string{"-throwaway", "-data", "x"}, nil, "contradict"},
		{"two databases", []string{"-throwaway"}, settings{"DATABASE_URL": "postgres://db.example/x"}, "DATABASE_URL"},
		{"SMTP settings of no server", nil, settings{"SMTP_PORT": "25"}, "SMTP_PORT is set, and SMTP_HOST is not"},
		{"port zero", nil, settings{"SMTP_HOST": "smtp.example", "SMTP_PORT": "0"}, "SMTP_PORT"},
	} {
		_, err := readConfig(tc.args, tc.env.get, &bytes.Buffer{})
		assert.ErrorContains(t, err, tc.says, tc.name)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var stdout bytes.Buffer
	_, err := readConfig([]string{"-h"}, settings{}.get, &stdout)
	require.ErrorIs(t, err, flag.ErrHelp)
	assert.Equal(t, usage, stdout.String())

	assert.NoError(t, run(t.Context(), []string{"-h"}, settings{}.get, newOutput()))
	for line := range strings.Lines(usage) {
		assert.LessOrEqual(t, len(line), 81, line)
	}
}
