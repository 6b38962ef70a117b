// The button of an object's menu, and the labels of failing nodes.

export const nodes = {
  nodes: {
    actions: 'Actions for {name}',
    menu: 'Actions',
    tags: { notReady: 'failing: not ready', unreachable: 'failing: unreachable' },
  },
}
