import { expect, it } from 'vitest'
import { blocksOf } from './yamlFold'

const text = `kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  retryPeriod: 2s
profiles:
- pluginConfig:
  - args:
      kind: A
    name: A

  - name: B
  plugins:
    multiPoint:
      enabled:
      - name: A
        weight: 3
      disabled: []
  schedulerName: default-scheduler
`
const folded = (keys: string[], least = 1) =>
  blocksOf(text.split('\n'), keys, least).map(({ head, last }) => `${head + 1}-${last + 1}`)

it('ends a block at the next key with the same indentation', () => {
  expect(folded(['leaderElection'])).toEqual(['2-4'])
  expect(folded(['enabled'])).toEqual(['14-16'])
})

it('includes a list with the same indentation as its key, but not what follows', () => {
  expect(folded(['pluginConfig'])).toEqual(['6-11'])
})

it('leaves out short blocks and nested blocks', () => {
  expect(folded(['leaderElection', 'pluginConfig'], 4)).toEqual(['6-11'])
  expect(folded(['plugins', 'enabled'])).toEqual(['12-17'])
})
