package controlplane

// UseControllers changes Options.Controllers and Options.VirtualNodes from the next
// Reset on, when the controllers begin anew. Whether new nodes are tainted stays as
// it was at the start.
func (c *ControlPlane) UseControllers(list []string, virtualNodes bool) error {
	if err := CheckControllers(list); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opts.Controllers, c.opts.VirtualNodes = list, virtualNodes
	return nil
}
