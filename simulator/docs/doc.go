// Package docs holds a page for each way of use. Its test does what a reader would
// do: it saves the files that a page shows, types the commands in order, and
// compares what they print with what the page says. Write `file=NAME` behind a
// block's language to have it saved, `server` behind sh for a command that goes on
// running until the page ends or another server block takes its place, and a text
// block below a command for its output, with … for what differs.
package docs
