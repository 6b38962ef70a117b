// The button of an object's menu, and the labels of failing nodes.

import type { nodes as english } from '@/i18n/en/nodes'

export const nodes: typeof english = {
  nodes: {
    actions: '{name} の操作',
    menu: '操作',
    tags: { notReady: '障害: NotReady', unreachable: '障害: 到達不能' },
  },
}
