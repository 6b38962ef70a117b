package kubectl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"kube-scheduler-simulator/simulator/questions/why"
)

// Outputs are the values of --output: a FORMAT for stdout, or FORMAT=FILE for a file. Without one for stdout, it is text.
type Outputs []string

var _ pflag.Value = (*Outputs)(nil)

// String, Set and Type make Outputs a flag that may be given again.
func (o *Outputs) String() string { return strings.Join(*o, ",") }

func (o *Outputs) Set(value string) error {
	*o = append(*o, value)
	return nil
}

func (*Outputs) Type() string { return "format" }

// Usage is the usage of the flag.
const Usage = "`format`: " + Formats + " (default text); FORMAT=FILE writes it to a file beside that, and may be given again"

// Check returns an error for a format that does not exist, and for two on stdout.
func (o Outputs) Check() error {
	_, err := o.stdout()
	return err
}

// stdout is the format of what goes to stdout.
func (o Outputs) stdout() (format string, err error) {
	for _, value := range o {
		name, file, toFile := strings.Cut(value, "=")
		if err := CheckFormat(name); err != nil {
			return "", err
		}
		switch {
		case toFile && file == "":
			return "", fmt.Errorf("--output: %q names no file", value)
		case toFile:
		case format != "":
			return "", errors.New("--output: only one format goes to stdout; write the others to files, as FORMAT=FILE")
		default:
			format = name
		}
	}
	if format == "" {
		format = "text"
	}
	return format, nil
}

// Print writes answers to w and to the files. See the function Print for fit.
func (o Outputs) Print(w io.Writer, answers []why.Answer, fit bool) error {
	format, err := o.stdout()
	if err != nil {
		return err
	}
	errs := []error{Print(w, answers, format, fit)}
	for _, value := range o {
		name, file, toFile := strings.Cut(value, "=")
		if !toFile {
			continue
		}
		var b bytes.Buffer
		err := Print(&b, answers, name, fit)
		if err == nil {
			err = os.WriteFile(file, b.Bytes(), 0o666)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("writing %s: %w", file, err))
		}
	}
	return errors.Join(errs...)
}
