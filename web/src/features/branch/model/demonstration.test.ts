import { expect, it } from 'vitest'
import { plays } from './demonstration'

it('a demonstration makes its nodes ready before the rest of a step', () => {
  const node = { kind: 'Node', metadata: { name: 'n1' } }
  const pod = { kind: 'Pod', metadata: { name: 'p' } }
  const { steps } = plays('demo', [{ objects: [pod, node], until: 'true' }, { objects: [pod] }]).body as {
    steps: object[]
  }
  expect(steps).toEqual([
    { apply: { objects: [node] } },
    { wait: { for: expect.stringContaining('["n1"].all(n, objects("Node").exists(') as string } },
    { apply: { objects: [pod] } },
    { wait: { for: 'true' } },
    { apply: { objects: [pod] } },
  ])
})
