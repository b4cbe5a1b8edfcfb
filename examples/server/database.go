package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/internal/postgres"
)

// openDatabase returns a pool on the database, after starting a private
// PostgreSQL where the config names none, and says in words which one it is.
func openDatabase(ctx context.Context, c config, log *slog.Logger, started *teardown) (pool *pgxpool.Pool, which string, err error) {
	url, which := c.databaseURL, "the one of DATABASE_URL"
	if url == "" {
		server, err := startPostgres(ctx, c, log)
		if err != nil {
			return nil, "", fmt.Errorf("%w\n(-data names another folder, -throwaway takes a temporary one, DATABASE_URL another server)", err)
		}
		started.add("private PostgreSQL", server.Stop)
		url, which = server.URL("postgres"), fmt.Sprintf("a private PostgreSQL in %s", server.Folder())
	}
	pool, err = pgxpool.New(ctx, url)
	if err != nil {
		return nil, "", err
	}
	started.add("connections", func(context.Context) error {
		pool.Close()
		return nil
	})
	return pool, which, nil
}

func startPostgres(ctx context.Context, c config, log *slog.Logger) (*postgres.Server, error) {
	settings, err := postgresConfig(c)
	if err != nil {
		return nil, err
	}
	settings.Logger = log
	return postgres.Start(ctx, settings)
}

// postgresConfig chooses the private PostgreSQL's folder.
func postgresConfig(c config) (settings postgres.Config, err error) {
	switch {
	case c.throwaway:
		settings.Settings = map[string]string{"fsync": "off"} // Nobody will miss the data.
	case c.dataFolder != "":
		settings.Folder = c.dataFolder
	default:
		settings.Folder, err = postgres.KeptFolder("sample-server")
	}
	return settings, err
}
