import type * as english from './en'

export const nodes: typeof english.nodes = {
  nodes: {
    actions: '{name} の操作',
    menu: '操作',
    tags: { notReady: '障害: NotReady', unreachable: '障害: 到達不能' },
  },
}
