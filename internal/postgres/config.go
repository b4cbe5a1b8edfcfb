package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Config says how [Start] starts a server. The zero value is a server in a
// temporary folder, with PostgreSQL's own settings.
type Config struct {
	// Folder holds the cluster, its password and the server's log. It is
	// created where it is missing, and kept: the next server with the same
	// folder has the same databases. Empty means a temporary folder, removed
	// by [Server.Stop] or when this process dies.
	Folder string

	// Binaries are the programs to run. Zero means those that [Find] returns.
	Binaries Binaries

	// Settings are run-time settings of PostgreSQL by name, such as
	// {"fsync": "off"}. Nil means PostgreSQL's defaults. Where the server
	// listens is not among them.
	Settings map[string]string

	// Logger is told when binaries are fetched. Nil means that nobody is.
	Logger *slog.Logger
}

// ownSettings are those that Start itself makes.
var ownSettings = []string{"port", "listen_addresses", "unix_socket_directories", "data_directory", "hba_file"}

// validated returns the config with its folder made absolute, or every fault
// that it has.
func (c Config) validated() (Config, error) {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(c.Settings)) {
		if fault := settingFault(name, c.Settings[name]); fault != "" {
			faults = append(faults, fmt.Errorf("postgres: Config.Settings[%q]: %s", name, fault))
		}
	}
	if strings.ContainsRune(c.Folder, 0) {
		faults = append(faults, errors.New("postgres: Config.Folder holds a NUL"))
	}
	if c.Binaries != (Binaries{}) && (!filepath.IsAbs(c.Binaries.Folder) || c.Binaries.Major <= 0) {
		faults = append(faults, errors.New("postgres: Config.Binaries: want an absolute folder and a major version, as Find returns them"))
	}
	if c.Folder != "" {
		folder, err := filepath.Abs(c.Folder)
		if err != nil {
			faults = append(faults, fmt.Errorf("postgres: Config.Folder: %w", err))
		}
		c.Folder = folder
	}
	c.Settings = maps.Clone(c.Settings)
	return c, errors.Join(faults...)
}

func settingFault(name, value string) string {
	switch {
	case name == "" || strings.ContainsAny(name, "=\x00- \t\n"):
		return "is no name of a setting"
	case slices.Contains(ownSettings, strings.ToLower(name)):
		return "is made by Start"
	case strings.ContainsRune(value, 0):
		return "the value holds a NUL"
	}
	return ""
}

// syncs reports whether the settings leave fsync on.
func (c Config) syncs() bool {
	switch strings.ToLower(c.Settings["fsync"]) {
	case "off", "false", "no", "0":
		return false
	}
	return true
}
