package lesson

import (
	"embed"

	"kube-scheduler-simulator/scheduler/config"
)

//go:embed lessons challenges
var files embed.FS

// BuiltIn returns the built-in lessons and challenges.
func BuiltIn() ([]*Lesson, error) {
	return load(files, KindLesson+"s", Options{Parse: config.Parse})
}
