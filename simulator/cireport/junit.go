// Package cireport writes what CI systems show: JUnit files, and tables in Markdown. It knows neither scenarios nor
// questions, and decides nothing.
//
// Names and reasons come from the cluster, so every user and program that may write to the cluster can choose them.
// The package writes them as data: they end no cell, no line and no element, and bring no markup.
//
// It may import the standard library only.
package cireport

import (
	"encoding/xml"
	"fmt"
	"io"
)

// Suite is a group of cases. Its JUnit form counts them.
type Suite struct {
	Name string
	// Seconds is how long the suite took; 0 is left out.
	Seconds float64
	Cases   []Case
}

// Case is one test.
type Case struct {
	Name, ClassName string
	// File is the file of the test, and Line the line in it; both may be missing.
	File string
	Line int
	// Seconds is how long the case took; 0 is left out.
	Seconds float64
	// Failure: the test failed. Error: it could not be done. Both are nil for a test that passed.
	Failure, Error *Problem
}

// Problem is why a case did not pass.
type Problem struct {
	// Message is one line, and Text the rest.
	Message, Text string
}

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Time     string      `xml:"time,attr,omitempty"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	ClassName string        `xml:"classname,attr"`
	File      string        `xml:"file,attr,omitempty"`
	Line      int           `xml:"line,attr,omitempty"`
	Time      string        `xml:"time,attr,omitempty"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// JUnit writes suites in the format that CI systems read. Characters that XML cannot hold become U+FFFD.
func JUnit(w io.Writer, suites []Suite) error {
	var out junitSuites
	for _, s := range suites {
		out.Suites = append(out.Suites, s.junit())
	}
	data, err := xml.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("rendering JUnit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, data)
	return err
}

func (s Suite) junit() junitSuite {
	out := junitSuite{Name: s.Name, Tests: len(s.Cases), Time: seconds(s.Seconds)}
	for _, c := range s.Cases {
		if c.Failure != nil {
			out.Failures++
		}
		if c.Error != nil {
			out.Errors++
		}
		out.Cases = append(out.Cases, junitCase{
			Name: c.Name, ClassName: c.ClassName, File: c.File, Line: c.Line, Time: seconds(c.Seconds),
			Failure: (*junitProblem)(c.Failure), Error: (*junitProblem)(c.Error),
		})
	}
	return out
}

func seconds(s float64) string {
	if s == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", s)
}
