import { expect, it } from 'vitest'
import type { FeatureGate } from '@/api/types'
import { gatesToShow } from './featureGates'

const gate = (name: string, enabled = true): FeatureGate => ({
  name,
  stage: 'BETA',
  default: true,
  enabled,
  locked: false,
})
const gates = [gate('GenericWorkload'), gate('WatchList'), gate('OpportunisticBatching'), gate('CPUManager', false)]

it('shows changed gates first, then those that affect scheduling, and others by name', () => {
  const names = (text: string) => gatesToShow(gates, text).map((g) => g.name)
  expect(names('')).toEqual(['CPUManager', 'GenericWorkload', 'OpportunisticBatching'])
  expect(names('watch')).toEqual(['WatchList'])
  expect(names('nothing')).toEqual([])
})
