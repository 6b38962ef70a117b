// The menu of a node, and how it fails.

export const nodes = {
  nodes: {
    actions: 'Actions for {name}',
    menu: 'Node actions',
    tags: { notReady: 'failing: not ready', unreachable: 'failing: unreachable' },
  },
}
