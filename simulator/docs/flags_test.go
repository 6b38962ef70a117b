package docs

import (
	"bytes"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const flagsPage = "reference/flags.md"

// everyCommand is the section of the flags page for the flags that all commands have, and everyQuestion that for those
// of the commands that ask.
const (
	everyCommand  = "Every command"
	everyQuestion = "Every question"
)

// TestFlagsPage checks that the flags page lists every command of the program,
// every flag of each, and no other flags.
func TestFlagsPage(t *testing.T) {
	page := readPage(t, flagsPage)
	listed := flagsByCommand(page)
	common, question := listed[everyCommand], listed[everyQuestion]
	delete(listed, everyCommand)
	delete(listed, everyQuestion)

	program := clustertest.Program()
	served := flagsOf(t, program)
	commands := commandsOf(t, program)
	if len(commands) < 4 {
		t.Fatalf("the program names only the commands %q", commands)
	}
	for _, command := range commands {
		if !strings.Contains(page, "| `"+command) {
			t.Errorf("%s does not list the command %q", flagsPage, command)
		}
		want := flagsOf(t, program, strings.Fields(command)[1:]...)
		if command == "simulator replay" {
			// replay also takes the flags of a simulator that serves, and the page
			// says so.
			for flag := range served {
				if !want[flag] {
					t.Errorf("%s does not take %s", command, flag)
				}
				delete(want, flag)
			}
			maps.Copy(want, common)
		}
		got := maps.Clone(common)
		if slices.Contains([]string{"simulator why", "simulator whatif", "simulator capacity"}, command) {
			maps.Copy(got, question)
		}
		maps.Copy(got, listed[command])
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
			t.Errorf("flags of %s (-program +%s):\n%s", command, flagsPage, diff)
		}
		delete(listed, command)
	}
	for section, flags := range listed {
		if len(flags) > 0 {
			t.Errorf("%s has flags of %q, which is no command of the program", flagsPage, section)
		}
	}
}

var (
	// commandLine matches a line of --help that describes a command, and captures its name.
	commandLine = regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`)
	// helpLine matches a line of --help that describes a flag, and captures its name.
	helpLine = regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	// listedFlag matches a flag in the first cell of a row.
	listedFlag = regexp.MustCompile("`(--[a-z-]+)[^`]*`")
)

func help(t *testing.T, program string, command ...string) string {
	t.Helper()
	var out bytes.Buffer
	run := exec.CommandContext(t.Context(), program, append(command, "--help")...)
	run.Stdout, run.Stderr = &out, &out
	if err := run.Run(); err != nil {
		t.Fatalf("%s %q --help: %v\n%s", program, command, err, out.String())
	}
	return out.String()
}

// commandsOf returns the commands that the --help of the program or of one of its commands names, and that command itself if it has no
// commands. It leaves out those that come with every program.
func commandsOf(t *testing.T, program string, command ...string) []string {
	t.Helper()
	var commands []string
	for _, match := range commandLine.FindAllStringSubmatch(help(t, program, command...), -1) {
		if name := match[1]; name != "help" && name != "completion" {
			commands = append(commands, commandsOf(t, program, append(slices.Clone(command), name)...)...)
		}
	}
	if commands == nil || len(command) == 0 {
		commands = append(commands, strings.Join(append([]string{"simulator"}, command...), " "))
	}
	return commands
}

// flagsOf returns the flags that the --help of a command names.
func flagsOf(t *testing.T, program string, command ...string) map[string]bool {
	t.Helper()
	flags := map[string]bool{}
	for _, match := range helpLine.FindAllStringSubmatch(help(t, program, command...), -1) {
		flags[match[1]] = true
	}
	return flags
}

// flagsByCommand returns the flags in the tables of the flags page, by the heading of
// their section.
func flagsByCommand(page string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	section := ""
	for _, line := range prose(page) {
		if name, found := strings.CutPrefix(line, "## "); found {
			section = name
			out[section] = map[string]bool{}
		}
		cells := strings.Split(line, "|")
		if len(cells) < 3 || section == "" {
			continue
		}
		for _, match := range listedFlag.FindAllStringSubmatch(cells[1], -1) {
			out[section][match[1]] = true
		}
	}
	return out
}
