package virtualnode

import (
	"errors"
	"fmt"
	"slices"
	"text/template/parse"

	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/kwok/pkg/utils/gotpl"
)

// Templates of stages can call every function of sprig, as in kwok. A file of stages often comes
// from elsewhere, so some of them are refused or bounded here.

// outsideFunctions read from outside of the template: the environment of this process, and the
// network. A file that calls one is refused.
var outsideFunctions = []string{"env", "expandenv", "getHostByName"}

// maxCount bounds what one call makes: elements, repetitions or characters.
const maxCount = 10_000

// boundedFunctions replace those functions of sprig that make as much as a number says, which a
// template may take from an object.
func boundedFunctions() gotpl.FuncMap {
	functions := gotpl.FuncMap{}
	bound := func(name string, wrap func(original any) any) {
		functions[name] = wrap(sprig.TxtFuncMap()[name])
	}
	bound("until", func(original any) any {
		return func(count int) ([]int, error) {
			return checked(count, func() []int { return original.(func(int) []int)(count) })
		}
	})
	bound("untilStep", func(original any) any {
		return func(start, stop, step int) ([]int, error) {
			return checked(steps(start, stop, step), func() []int { return original.(func(int, int, int) []int)(start, stop, step) })
		}
	})
	bound("seq", func(original any) any {
		return func(params ...int) (string, error) {
			return checked(sequence(params), func() string { return original.(func(...int) string)(params...) })
		}
	})
	for _, name := range []string{"repeat", "indent", "nindent"} {
		bound(name, func(original any) any {
			return func(count int, text string) (string, error) {
				return checked(count, func() string { return original.(func(int, string) string)(count, text) })
			}
		})
	}
	for _, name := range []string{"randAlphaNum", "randAlpha", "randAscii", "randNumeric"} {
		bound(name, func(original any) any {
			return func(count int) (string, error) {
				return checked(count, func() string { return original.(func(int) string)(count) })
			}
		})
	}
	bound("randBytes", func(original any) any {
		return func(count int) (string, error) {
			if err := checkCount(count); err != nil {
				return "", err
			}
			return original.(func(int) (string, error))(count)
		}
	})
	return functions
}

func checked[T any](count int, do func() T) (T, error) {
	if err := checkCount(count); err != nil {
		var none T
		return none, err
	}
	return do(), nil
}

func checkCount(count int) error {
	if count > maxCount || count < -maxCount {
		return &tooMuchError{count}
	}
	return nil
}

// tooMuchError is returned by a function that would make more than maxCount.
type tooMuchError struct{ count int }

func (e *tooMuchError) Error() string {
	return fmt.Sprintf("%d is more than the %d that a template may make at once", e.count, maxCount)
}

// steps returns how many elements untilStep makes, at least about.
func steps(start, stop, step int) int {
	if step == 0 {
		return 0
	}
	return (stop - start) / step
}

// sequence returns how many numbers seq prints.
func sequence(params []int) int {
	switch len(params) {
	case 1:
		return params[0]
	case 2:
		return params[1] - params[0]
	case 3:
		return steps(params[0], params[2], params[1])
	}
	return 0
}

// checkCalls refuses a template that calls one of outsideFunctions. It says nothing of a malformed
// template.
func checkCalls(text string) error {
	tree := parse.New("template")
	tree.Mode = parse.SkipFuncCheck
	trees := map[string]*parse.Tree{}
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil
	}
	var errs []error
	for _, t := range trees {
		if t.Root != nil {
			errs = append(errs, checkNode(t.Root))
		}
	}
	return errors.Join(errs...)
}

func checkNode(node parse.Node) error {
	switch n := node.(type) {
	case *parse.ListNode:
		if n == nil {
			return nil
		}
		return checkNodes(n.Nodes)
	case *parse.ActionNode:
		return checkNode(n.Pipe)
	case *parse.IfNode:
		return checkBranch(&n.BranchNode)
	case *parse.RangeNode:
		return checkBranch(&n.BranchNode)
	case *parse.WithNode:
		return checkBranch(&n.BranchNode)
	case *parse.TemplateNode:
		return checkNode(n.Pipe)
	case *parse.PipeNode:
		if n == nil {
			return nil
		}
		for _, command := range n.Cmds {
			if err := checkNodes(command.Args); err != nil {
				return err
			}
		}
	case *parse.ChainNode:
		return checkNode(n.Node)
	case *parse.IdentifierNode:
		if slices.Contains(outsideFunctions, n.Ident) {
			return fmt.Errorf("it calls %s, which reads from outside of the simulated cluster", n.Ident)
		}
	}
	return nil
}

func checkBranch(n *parse.BranchNode) error {
	return errors.Join(checkNode(n.Pipe), checkNode(n.List), checkNode(n.ElseList))
}

func checkNodes(nodes []parse.Node) error {
	for _, n := range nodes {
		if err := checkNode(n); err != nil {
			return err
		}
	}
	return nil
}
