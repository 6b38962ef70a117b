package controlplane

import "kube-scheduler-simulator/simulator/controlplane/controllers"

// UseControllers changes Options.Controllers and Options.VirtualNodes. The change takes
// effect at the next Reset, which restarts the controllers. Whether new nodes are tainted
// does not change.
func (c *ControlPlane) UseControllers(list []string, virtualNodes bool) error {
	if err := controllers.Check(list); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Controllers, c.opts.VirtualNodes = list, virtualNodes
	return nil
}
