// The menu of a node, and the labels of failing nodes.

export const nodes = {
  nodes: {
    actions: 'Actions for {name}',
    menu: 'Node actions',
    tags: { notReady: 'failing: not ready', unreachable: 'failing: unreachable' },
  },
}
