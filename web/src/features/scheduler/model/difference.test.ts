import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Effective } from '@/api/types'
import { changeGroups, effectiveDocument } from './difference'

const effective = (change: Partial<Effective> = {}): Effective => ({
  revision: 1,
  global: [{ name: 'parallelism', value: 16, default: 16, source: 'default' }],
  profiles: [
    {
      schedulerName: 'default-scheduler',
      extensionPoints: [
        {
          name: 'score',
          plugins: [{ name: 'NodeResourcesFit', weight: 1, source: 'default', viaMultiPoint: true }],
          disabled: [],
        },
        { name: 'permit', plugins: [], disabled: [] },
      ],
      plugins: [
        {
          name: 'NodeResourcesFit',
          arguments: { scoringStrategy: { type: 'LeastAllocated' } },
          argumentsSource: 'default',
        },
        { name: 'NodeName', argumentsSource: 'none' },
      ],
    },
  ],
  extenders: [],
  difference: [],
  noEffect: [],
  ...change,
})

describe('differences of configurations', () => {
  it('are grouped by profile, each with both values', () => {
    const groups = changeGroups([
      { field: 'profiles[default-scheduler].plugins.score[NodeResourcesFit].weight', default: 1, current: 5 },
      { field: 'parallelism', default: 16, current: 8 },
      { field: 'profiles[batch]', default: null, current: { schedulerName: 'batch' } },
      { field: 'profiles[default-scheduler].plugins[NodePorts]', default: ['preFilter', 'filter'], current: null },
    ])
    expect(groups).toEqual([
      { profile: '', changes: [{ kind: 'changed', field: 'parallelism', from: '16', to: '8' }] },
      {
        profile: 'default-scheduler',
        changes: [
          { kind: 'changed', field: 'plugins.score[NodeResourcesFit].weight', from: '1', to: '5' },
          { kind: 'removed', field: 'plugins[NodePorts]', from: 'preFilter, filter', to: '' },
        ],
      },
      { profile: 'batch', changes: [{ kind: 'added', field: '', from: '', to: '{"schedulerName":"batch"}' }] },
    ])
  })
  it('distinguish a value of zero or false from none', () => {
    expect(changeGroups([{ field: 'x', default: 0, current: false }])[0]?.changes).toEqual([
      { kind: 'changed', field: 'x', from: '0', to: 'false' },
    ])
  })
})

describe('the document of a configuration in force', () => {
  it('has every plugin where it runs, its weight and its arguments', () => {
    expect(parse(effectiveDocument(effective()))).toEqual({
      apiVersion: 'kubescheduler.config.k8s.io/v1',
      kind: 'KubeSchedulerConfiguration',
      parallelism: 16,
      profiles: [
        {
          schedulerName: 'default-scheduler',
          plugins: { score: { enabled: [{ name: 'NodeResourcesFit', weight: 1 }] } },
          pluginConfig: [{ name: 'NodeResourcesFit', args: { scoringStrategy: { type: 'LeastAllocated' } } }],
        },
      ],
    })
  })
  it('does not depend on how the document was written', () => {
    expect(effectiveDocument(effective({ revision: 7, difference: [{ field: 'x', default: 1, current: 2 }] }))).toBe(
      effectiveDocument(effective())
    )
  })
})
