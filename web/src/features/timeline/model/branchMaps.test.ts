import { describe, expect, it } from 'vitest'
import { mappedNodes } from './branchMaps'

const use = (cpuMillis: number, pods = 1) => ({
  pods,
  cpuMillis,
  cpuAllocatableMillis: 4000,
  memoryBytes: 0,
  memoryAllocatableBytes: 1024,
})
const names = (nodes: { name: string; differs: boolean }[]) =>
  nodes.map(({ name, differs }) => name + (differs ? '!' : ''))

describe('the maps of two branches', () => {
  it('tell nodes that are equally full from those that differ, and that one branch lacks', () => {
    const { nodes, left } = mappedNodes([
      { name: 'same', a: use(1000), b: use(1000) },
      { name: 'fuller', a: use(1000), b: use(1500) },
      { name: 'more-pods', a: use(1000), b: use(1000, 2) },
      { name: 'gone', a: use(0) },
    ])
    expect(names(nodes)).toEqual(['same', 'fuller!', 'more-pods!', 'gone!'])
    expect(left).toBe(0)
  })
  it('leave out equal nodes of a large cluster, and say how many', () => {
    const large = Array.from({ length: 200 }, (_, i) => ({ name: `n${i}`, a: use(1000), b: use(i < 3 ? 2000 : 1000) }))
    const { nodes, left } = mappedNodes(large)
    expect(names(nodes)).toEqual(['n0!', 'n1!', 'n2!'])
    expect(left).toBe(197)
  })
})
