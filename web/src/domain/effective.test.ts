import { expect, it } from 'vitest'
import type { Effective, EffectiveProfile } from '@/api/types'
import { effectiveMatrix, pluginNames } from './effective'

const profile: EffectiveProfile = {
  schedulerName: 'default-scheduler',
  extensionPoints: [
    { name: 'preEnqueue', plugins: [], disabled: [] },
    { name: 'filter', plugins: [{ name: 'NodeName', source: 'default', viaMultiPoint: true }, { name: 'NodeResourcesFit', source: 'default', viaMultiPoint: true }], disabled: [] },
    { name: 'score', plugins: [{ name: 'NodeResourcesFit', weight: 5, source: 'user', viaMultiPoint: true }], disabled: ['ImageLocality'] },
  ],
  plugins: [
    { name: 'NodeName', argumentsSource: 'none' },
    { name: 'NodeResourcesFit', arguments: { scoringStrategy: {} }, argumentsSource: 'user' },
  ],
}

it('is plugins × extension points, with what is not as the default has it', () => {
  const matrix = effectiveMatrix(profile)
  expect(matrix.points).toEqual(['filter', 'score'])
  expect(matrix.rows.map((r) => `${r.plugin}${r.changed ? '*' : ''}: ${r.cells.map((c) => `${c.state}${c.weight ?? ''}${c.changed ? '*' : ''}${c.order || ''}`).join(' ')}${r.argumentsChanged ? ' args*' : ''}`)).toEqual([
    'NodeName: on1 none',
    'NodeResourcesFit*: on2 on5*1 args*',
    'ImageLocality*: none off*',
  ])
  expect(matrix.changed).toBe(2)
  expect(pluginNames({ profiles: [profile] } as unknown as Effective)).toEqual(['ImageLocality', 'NodeName', 'NodeResourcesFit'])
})
