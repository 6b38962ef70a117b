package app

import (
	"context"

	"kube-scheduler-simulator/simulator/elsewhere/mirror/following"
	"kube-scheduler-simulator/simulator/host/operation"
)

func (s *simulator) newFollowing() *following.Following {
	return following.New(s.options.Source, s.prepared.source, following.Hooks{
		ClientConfig:     s.clientConfig,
		Define:           s.define,
		Reschedule:       s.options.Reschedule,
		DropDefaultClass: s.dropDefaultClass,
		Begin: func(ctx context.Context, message string) (context.Context, *operation.Operation, error) {
			return s.operations.Begin(ctx, operation.Import, message)
		},
		Import:  s.importFromSource,
		Changed: s.publish,
		Logger:  s.options.Logger,
	})
}

// dropDefaultClass deletes our default StorageClass before the objects of another cluster arrive.
func (s *simulator) dropDefaultClass() error {
	if s.embedded == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return s.embedded.DropDefaultStorageClass(ctx)
}
