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
const folded = (keys: string[], least = 1) => blocksOf(text.split('\n'), keys, least).map(({ head, last }) => `${head + 1}-${last + 1}`)

it('ends where the next key stands as far left', () => {
  expect(folded(['leaderElection'])).toEqual(['2-4'])
  expect(folded(['enabled'])).toEqual(['14-16'])
})

it('takes a list that stands as far left as its key, and what follows it stays', () => {
  expect(folded(['pluginConfig'])).toEqual(['6-11'])
})

it('leaves short blocks open, and folds none within another', () => {
  expect(folded(['leaderElection', 'pluginConfig'], 4)).toEqual(['6-11'])
  expect(folded(['plugins', 'enabled'])).toEqual(['12-17'])
})
