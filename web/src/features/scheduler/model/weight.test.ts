import { expect, it } from 'vitest'
import { parseWeight, withWeight } from './weight'

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

it('enables the plugin at score when the default stands for it', () => {
  expect(withWeight(`# mine\n${head}`, 'NodeAffinity', 5)).toBe(`# mine\n${head}profiles:
  - schedulerName: default-scheduler
    plugins:
      score:
        enabled:
          - name: NodeAffinity
            weight: 5
`)
})

it('changes the weight where it is, and keeps comments', () => {
  const text = `${head}profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          # prefers emptier nodes
          - name: NodeResourcesFit
            weight: 2
`
  expect(withWeight(text, 'NodeResourcesFit', 7)).toBe(text.replace('weight: 2', 'weight: 7'))
  expect(withWeight(text, 'NodeAffinity', 3)).toContain(
    'multiPoint:\n        enabled:\n          # prefers emptier nodes\n          - name: NodeResourcesFit\n' +
      '            weight: 2\n      score:\n        enabled:\n          - name: NodeAffinity\n            weight: ' +
      '3\n'
  )
})

it('changes the named profile', () => {
  const text = `${head}profiles:\n  - schedulerName: default-scheduler\n  - schedulerName: batch\n`
  expect(withWeight(text, 'NodeAffinity', 3, 'batch')).toBe(
    `${text}    plugins:\n      score:\n        enabled:\n          - name: NodeAffinity\n            weight: 3\n`
  )
  expect(withWeight(text, 'NodeAffinity', 3, 'none')).toBe(text)
})

it('leaves a text alone that is no configuration', () => {
  expect(withWeight('a: [', 'NodeAffinity', 3)).toBe('a: [')
})

it.each([
  ['NodeAffinity=5', { plugin: 'NodeAffinity', weight: 5 }],
  ['NodeAffinity=0', undefined],
  ['NodeAffinity', undefined],
])('reads %s', (text, value) => expect(parseWeight(text)).toEqual(value))
