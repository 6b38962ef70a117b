// Package docs holds the guides, the reference and the decision records. It
// contains no code except tests, which may import only the command line.
//
// The tests follow every page as a reader would: they save the files that the page
// shows, type the commands in order, and compare the output with the page. These
// words after the language of a fenced block control them:
//
//   - file=NAME saves the block as a file.
//   - sh server starts a command that keeps running until the page ends or another
//     server block replaces it. sh server=NAME starts one more beside it.
//   - sh elsewhere is not typed, because it needs something that the test does not
//     have, such as a cluster in the cloud.
//   - text is the expected output of the commands above, with … for what varies.
//
// Other tests check the links between pages, and compare the flags page with the
// program.
package docs
