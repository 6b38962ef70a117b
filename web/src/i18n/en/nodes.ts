// The menu of a node, and how it fails.

export const nodes = {
  nodes: {
    actions: 'Actions of {name}',
    menu: 'Node actions',
    tags: { notReady: 'fails: not ready', unreachable: 'fails: unreachable' },
  },
}
