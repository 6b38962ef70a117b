// Package deploy holds what people install: the Helm chart of the server, the rights of a sweep and of kubectl why, the
// GitHub Action, and plugin files for k9s and Krew. It contains no code except tests. They may import what says which
// kinds a question reads.
//
// Folder tools is a module of its own, for helm and krew, which the tests build there.
package deploy
