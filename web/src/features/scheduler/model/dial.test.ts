import { expect, it } from 'vitest'
import { parseWeight, withPlugin, withWeight } from './dial'

const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'
const affinity = { plugin: 'NodeAffinity', point: 'score', usual: 2 }
const fit = { plugin: 'NodeResourcesFit', point: 'score', usual: 1 }

it('enables the plugin at score when the default stands for it, and needs no text for the default', () => {
  const text = `# mine\n${head}profiles:\n- schedulerName: default-scheduler\n`
  const changed = `${text}  plugins:
    score:
      enabled:
      - name: NodeAffinity
        weight: 5
`
  expect(withWeight(`# mine\n${head}`, affinity, 5)).toBe(changed)
  expect(withWeight(changed, affinity, 2)).toBe(text)
  expect(withWeight(text, affinity, 2)).toBe(text)
})

it('changes the number where it is, and keeps every other character', () => {
  const text = `${head}profiles:
    -   schedulerName: "default-scheduler"   # the only one

        plugins:
            multiPoint:
                enabled:
                # prefers emptier nodes
                - {name: NodeResourcesFit,   weight: 2} # two
`
  expect(withWeight(text, fit, 7)).toBe(text.replace('weight: 2', 'weight: 7'))
})

it('keeps comments, order and the indentation of lists', () => {
  const text = `${head}profiles:
  - schedulerName: default-scheduler
    plugins:
      multiPoint:
        enabled:
          # prefers emptier nodes
          - name: NodeResourcesFit
            weight: 2
parallelism: 3 # few
`
  expect(withWeight(text, affinity, 3)).toBe(
    text.replace(
      'parallelism',
      '      score:\n        enabled:\n          - name: NodeAffinity\n            weight: 3\nparallelism'
    )
  )
})

it('switches a score off and on again', () => {
  const text = `${head}profiles:\n- schedulerName: default-scheduler\n`
  const off = withWeight(text, affinity, 0)
  expect(off).toBe(`${text}  plugins:\n    score:\n      disabled:\n      - name: NodeAffinity\n`)
  expect(withWeight(off, affinity, 2)).toBe(text)
  expect(withWeight(withWeight(withWeight(text, affinity, 5), affinity, 0), affinity, 0)).toBe(off)
  expect(withWeight(off, affinity, 4)).toContain(
    'score:\n      enabled:\n      - name: NodeAffinity\n        weight: 4\n'
  )
})

it('switches a plugin off and on again at one extension point', () => {
  const text = `${head}profiles:\n- schedulerName: default-scheduler\n- schedulerName: batch\n`
  const filter = { plugin: 'NodeResourcesFit', point: 'filter', profile: 'batch', usual: 0 }
  const off = withPlugin(text, filter, false)
  expect(off).toBe(`${text}  plugins:\n    filter:\n      disabled:\n      - name: NodeResourcesFit\n`)
  expect(withPlugin(off, filter, false)).toBe(off)
  expect(withPlugin(off, filter, true)).toBe(text)
})

it('names a plugin that something wider has disabled', () => {
  const cleared = `${head}profiles:\n- plugins:\n    filter:\n      disabled:\n      - name: "*"\n`
  const filter = { plugin: 'NodeName', point: 'filter', usual: 0 }
  expect(withPlugin(cleared, filter, true)).toBe(`${cleared}      enabled:\n      - name: NodeName\n`)
  expect(withPlugin(withPlugin(cleared, filter, true), filter, false)).toBe(cleared)
  const without = `${head}profiles:\n- plugins:\n    multiPoint:\n      disabled:\n      - name: NodeName\n`
  expect(withPlugin(without, filter, true)).toBe(`${without}    filter:\n      enabled:\n      - name: NodeName\n`)
  expect(withPlugin(without, filter, false)).toBe(without)
  const own = `${head}profiles:\n- plugins:\n    score:\n      enabled:\n      - name: CELScore\n        weight: 3\n`
  expect(withWeight(own, { plugin: 'CELScore', point: 'score' }, 0)).toBe(`${head}profiles:\n- {}\n`)
})

it('changes the named profile', () => {
  const text = `${head}profiles:\n- schedulerName: default-scheduler\n- schedulerName: batch\n`
  expect(withWeight(text, { ...affinity, profile: 'batch' }, 3)).toBe(
    `${text}  plugins:\n    score:\n      enabled:\n      - name: NodeAffinity\n        weight: 3\n`
  )
  expect(withWeight(text, { ...affinity, profile: 'none' }, 3)).toBe(text)
})

it('leaves a text alone that is no configuration', () => {
  expect(withWeight('a: [', affinity, 3)).toBe('a: [')
})

it.each([
  ['NodeAffinity=5', { plugin: 'NodeAffinity', weight: 5 }],
  ['NodeAffinity=0', undefined],
  ['NodeAffinity', undefined],
])('reads %s', (text, value) => expect(parseWeight(text)).toEqual(value))
