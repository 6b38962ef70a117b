package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"github.com/spf13/cobra"
	"os"

	"kube-scheduler-simulator/simulator/app"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/questions/ask"
)

type reporting struct {
	client    *ask.Client
	decisions []string
	namespace string
	redact    bool
	// run and lesson are IDs; at most one of them is set, and then there are no decisions.
	run, lesson, language string
}

func report() *cobra.Command {
	flags := newFlags("report [[NAMESPACE/]NAME[@ATTEMPT] [[NAMESPACE/]NAME[@ATTEMPT]]] [flags]",
		"Saves a decision as one HTML file that opens in a browser without a server or a network, by default the newest attempt to schedule the pod. With a second decision, the file compares both. With --run or --lesson, it saves a run or what became of a lesson instead.")
	var r reporting
	flags.StringVarP(&r.namespace, "namespace", "n", "default", "`namespace` of a pod that is named without one")
	flags.BoolVar(&r.redact, "redact", false, "replace the names in decisions")
	flags.StringVar(&r.run, "run", "", "`number` of a run of the page Scenarios to save")
	flags.StringVar(&r.lesson, "lesson", "", "`name` of a lesson to save; --server is its sandbox, such as http://127.0.0.1:1212/branches/lesson-NAME")
	flags.StringVar(&r.language, "lang", "en", "`language` of the lesson's texts: en or ja")
	output := flags.StringP("output", "o", "", "`file` to write; - is stdout (default: NAMESPACE-NAME-ATTEMPT.html, decision-redacted.html, run-NUMBER.html or lesson-NAME.html)")
	server := flags.String("server", "http://"+app.DefaultListen, "`address` of the running simulator")
	tokenFile := flags.String("token-file", "", "`file` with the token of that simulator")
	return flags.takes(func(ctx context.Context, args []string) error {
		r.decisions = args
		if err := r.check(); err != nil {
			return err
		}
		token, err := app.ReadToken(*tokenFile)
		if err != nil {
			return err
		}
		if r.client, err = ask.NewClient(*server, token); err != nil {
			return err
		}
		file, name, err := r.fetch(ctx)
		if err != nil {
			return err
		}
		if *output == "-" {
			_, err = os.Stdout.Write(file)
			return err
		}
		return datadir.WriteFile(cmp.Or(*output, name+".html"), file)
	})
}

func (r *reporting) check() error {
	others := 0
	for _, id := range []string{r.run, r.lesson} {
		if id != "" {
			others++
		}
	}
	switch {
	case others == 1 && len(r.decisions) == 0 && r.redact:
		return errors.New("--redact is for decisions: the texts of scenarios and lessons are their authors'")
	case others == 1 && len(r.decisions) == 0:
		return nil
	case others > 0 || len(r.decisions) == 0 || len(r.decisions) > 2:
		return errors.New("name one decision, or two to compare, as [NAMESPACE/]NAME[@ATTEMPT], or give --run or --lesson (see --help)")
	}
	return nil
}

// fetch returns the file, and its name without the ending.
func (r *reporting) fetch(ctx context.Context) (file []byte, name string, err error) {
	switch {
	case r.run != "":
		file, err = r.client.RunReport(ctx, r.run)
		return file, "run-" + r.run, err
	case r.lesson != "":
		file, err = r.client.LessonReport(ctx, r.lesson, r.language)
		return file, "lesson-" + r.lesson, err
	}
	decision, err := ask.ParseDecision(r.decisions[0], r.namespace)
	if err != nil {
		return nil, "", err
	}
	var other *ask.Decision
	if len(r.decisions) == 2 {
		second, err := ask.ParseDecision(r.decisions[1], r.namespace)
		if err != nil {
			return nil, "", err
		}
		other = &second
	}
	file, of, err := r.client.Report(ctx, decision, other, r.redact)
	if err != nil {
		return nil, "", err
	}
	if r.redact {
		return file, "decision-redacted", nil
	}
	return file, fmt.Sprintf("%s-%s-%d", of.Pod.Namespace, of.Pod.Name, of.Attempt), nil
}
