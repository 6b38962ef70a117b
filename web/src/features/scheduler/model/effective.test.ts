import { expect, it } from 'vitest'
import type { Effective, EffectiveProfile } from '@/api/types'
import { effectiveMatrix, pluginNames } from './effective'

const profile: EffectiveProfile = {
  schedulerName: 'default-scheduler',
  extensionPoints: [
    { name: 'preEnqueue', plugins: [], disabled: [] },
    {
      name: 'filter',
      plugins: [
        { name: 'NodeName', source: 'default', viaMultiPoint: true },
        { name: 'NodeResourcesFit', source: 'default', viaMultiPoint: true },
      ],
      disabled: [],
    },
    {
      name: 'score',
      plugins: [{ name: 'NodeResourcesFit', weight: 5, source: 'user', viaMultiPoint: true }],
      disabled: ['ImageLocality'],
    },
  ],
  plugins: [
    { name: 'NodeName', argumentsSource: 'none' },
    { name: 'NodeResourcesFit', arguments: { scoringStrategy: {} }, argumentsSource: 'user' },
  ],
}

it('shows where a draft differs from the running configuration', () => {
  const draft: EffectiveProfile = {
    ...profile,
    extensionPoints: [
      { name: 'filter', plugins: [{ name: 'NodeResourcesFit', source: 'default', viaMultiPoint: true }], disabled: [] },
      {
        name: 'score',
        plugins: [
          { name: 'NodeResourcesFit', weight: 7, source: 'user', viaMultiPoint: true },
          { name: 'Mine', weight: 1, source: 'user', viaMultiPoint: true },
        ],
        disabled: ['ImageLocality'],
      },
    ],
    plugins: [
      { name: 'NodeResourcesFit', arguments: { scoringStrategy: { type: 'MostAllocated' } }, argumentsSource: 'user' },
    ],
  }
  const told = (state: string, weight: number | undefined) => `${state}${weight ?? ''}`
  const { rows, differing } = effectiveMatrix(draft, profile)
  expect(
    rows.map(
      (r) =>
        `${r.plugin}: ` +
        `${r.cells.map((c) => told(c.state, c.weight) + (c.was ? ` was ${told(c.was.state, c.was.weight)}` : '')).join(', ')}` +
        `${r.argumentsDiffer ? ' args' : ''}`
    )
  ).toEqual([
    'NodeResourcesFit: on, on7 was on5 args',
    'Mine: none, on1 was none',
    'ImageLocality: none, off',
    // The draft has no such plugin at all.
    'NodeName: none was on, none',
  ])
  expect(differing).toBe(3)
  expect(effectiveMatrix(profile, profile).differing).toBe(0)
})

it('is plugins × extension points, with the differences from the default', () => {
  const matrix = effectiveMatrix(profile)
  expect(matrix.points).toEqual(['filter', 'score'])
  expect(
    matrix.rows.map(
      (r) =>
        `${r.plugin}${r.changed ? '*' : ''}: ` +
        `${r.cells.map((c) => `${c.state}${c.weight ?? ''}${c.changed ? '*' : ''}${c.order || ''}`).join(' ')}` +
        `${r.argumentsChanged ? ' args*' : ''}`
    )
  ).toEqual(['NodeName: on1 none', 'NodeResourcesFit*: on2 on5*1 args*', 'ImageLocality*: none off*'])
  expect(matrix.changed).toBe(2)
  expect(pluginNames({ profiles: [profile] } as unknown as Effective)).toEqual([
    'ImageLocality',
    'NodeName',
    'NodeResourcesFit',
  ])
})
