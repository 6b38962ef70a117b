package controlplane

import (
	"context"

	"kube-scheduler-simulator/simulator/cluster/controlplane/controllers"
)

// UseControllers changes Options.Controllers and Options.VirtualNodes from the next Reset on.
// Whether new nodes are tainted does not change.
func (c *ControlPlane) UseControllers(ctx context.Context, list []string, virtualNodes bool) error {
	if err := controllers.Check(list); err != nil {
		return err
	}
	if err := c.take(ctx); err != nil {
		return err
	}
	defer c.release()
	c.opts.Controllers, c.opts.VirtualNodes = list, virtualNodes
	return nil
}
