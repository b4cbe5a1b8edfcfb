package mailcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/buzon-go/buzon/internal/testtools"
)

// HTMLValidate is the environment variable that holds the path of the program
// html-validate. It comes before PATH and before the folder into which the
// script .ci/run installs it; the script sets the variable, so that its own
// version is used.
const HTMLValidate = "BUZON_HTML_VALIDATE"

// HTML fails the test with every fault that html-validate finds in whole HTML
// documents, which are given by name. It holds them to the presets recommended
// and document. The rules in allow are not applied; the reason that stands
// behind each is for the reader, and must be there. E-mail breaks some of them
// by need, such as no-deprecated-attr for the widths of tables.
//
// Without html-validate the test is skipped, or fails, as package testtools
// has it.
func HTML(t testing.TB, pages map[string]string, allow map[string]string) {
	t.Helper()
	faults, err := validate(t.Context(), htmlValidate(t), t.TempDir(), pages, allow)
	if err != nil {
		t.Fatalf("mailcheck: html-validate: %v", err)
	}
	if len(faults) > 0 {
		t.Errorf("mailcheck: the HTML is wrong:\n%s", strings.Join(faults, "\n"))
	}
}

func htmlValidate(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(HTMLValidate); path != "" {
		return path
	}
	if path, err := exec.LookPath("html-validate"); err == nil {
		return path
	}
	installed, _ := filepath.Glob(filepath.Join(build.Default.GOPATH, "buzon-tools", "html-validate-*", "node_modules", ".bin", "html-validate")) // The only error is a bad pattern.
	if len(installed) == 0 {
		testtools.Missing(t, "html-validate is not installed: run .ci/run, or npm install --global html-validate")
	}
	return installed[len(installed)-1]
}

// validate runs the program once for all pages, as it takes long to start. It
// returns the faults in the order of the pages' names.
func validate(ctx context.Context, program, folder string, pages, allow map[string]string) ([]string, error) {
	names, err := write(folder, pages, allow)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// Into a file: what it writes to a pipe is cut at 64 KiB when it exits.
	args := append([]string{"--config=config.json", "--formatter=json=" + reportFile}, slices.Sorted(maps.Keys(names))...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = folder
	_, runErr := output(ctx, cmd)
	report, err := os.ReadFile(filepath.Join(folder, reportFile))
	if exit := (*exec.ExitError)(nil); runErr != nil && (!errors.As(runErr, &exit) || err != nil) {
		return nil, runErr // and not the status of a page that has faults
	}
	if err != nil {
		return nil, err
	}
	return faults(names, report)
}

const reportFile = "report.json"

// write puts the pages and the configuration into the folder. It returns the
// pages' names by those of their files, which sort in the same way.
func write(folder string, pages, allow map[string]string) (names map[string]string, err error) {
	config, err := configuration(allow)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(folder, "config.json"), config, 0o600); err != nil {
		return nil, err
	}
	names = map[string]string{}
	for i, name := range slices.Sorted(maps.Keys(pages)) {
		file := fmt.Sprintf("%06d.html", i)
		names[file] = name
		if err := os.WriteFile(filepath.Join(folder, file), []byte(pages[name]), 0o600); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func configuration(allow map[string]string) ([]byte, error) {
	rules := map[string]string{}
	for rule, reason := range allow {
		if reason == "" {
			return nil, fmt.Errorf("rule %s is allowed without a reason", rule)
		}
		rules[rule] = "off"
	}
	return json.Marshal(map[string]any{
		"root":    true,
		"extends": []string{"html-validate:recommended", "html-validate:document"},
		"rules":   rules,
	})
}

// faults reads the report of html-validate, which leaves out pages that have
// no fault.
func faults(names map[string]string, report []byte) ([]string, error) {
	var results []struct {
		FilePath string
		Messages []struct {
			RuleID, Message string
			Line            int
		}
	}
	if err := json.Unmarshal(report, &results); err != nil {
		return nil, fmt.Errorf("the report is not readable: %w", err)
	}
	var faults []string
	for _, result := range results {
		for _, m := range result.Messages {
			faults = append(faults, fmt.Sprintf("%s, line %d: %s (%s)", names[filepath.Base(result.FilePath)], m.Line, m.Message, m.RuleID))
		}
	}
	return faults, nil
}
