// The menu of a node, and the labels of failing nodes.

import type { nodes as english } from '@/i18n/en/nodes'

export const nodes: typeof english = {
  nodes: {
    actions: '{name} の操作',
    menu: 'ノードの操作',
    tags: { notReady: '障害: NotReady', unreachable: '障害: 到達不能' },
  },
}
