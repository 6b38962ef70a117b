// Package agents answers the questions of AI agents by the Model Context Protocol, over the standard
// streams of a program and over HTTP. Each of its ten tools asks the target as every other door does,
// and prints the answer as one compact text. No tool changes a cluster, simulated or real.
//
// What users of a cluster have written, such as names, labels and messages, comes out as JSON strings
// that cannot look like a line, a heading or a link of the answer. See text.
//
// An agent may send anything: messages, arguments, answers, and the number of questions at a time are
// bounded, and whatever exceeds a bound gets one error.
//
// It decides nothing about pods, and knows no API server. It may import the types of client-go,
// scheduler/explain, scheduler/result, scheduler/shadow, scheduler/whatif with its packages,
// scheduler/yamlsource, simulator/batch/kueue/admission and suggest, simulator/scenarios and
// simulator/questions.
package agents
