// Package doors tests that a question gets the same true answer through every door: package why itself, the command
// line of kubectl-why, HTTP, and the Model Context Protocol.
package doors
