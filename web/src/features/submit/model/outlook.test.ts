import { expect, it } from 'vitest'
import type { SubmitReach } from '@/api/types'
import { axisOf, spanOf, stepsOf, ticksOf } from './outlook'

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 10, minutes)).toISOString()
const axis = axisOf(at(50), { until: at(90) })

it('places what is known on the axis', () => {
  expect(spanOf(axis, { earliest: at(60), latest: at(70) })).toEqual({ from: 25, to: 50 })
  expect(spanOf(axis, { earliest: at(60), latest: null })).toEqual({ from: 25, to: 100 })
  expect(spanOf(axis, { earliest: null, latest: null })).toBeUndefined()
  expect(spanOf(axis, { earliest: at(60), latest: at(500) })?.to).toBe(100)
})

it('has round times', () => {
  expect(ticksOf(axis).map((one) => new Date(one).toISOString())).toEqual([at(60), at(70), at(80)])
})

it('draws what is in reach as steps', () => {
  const reach: SubmitReach = {
    clusterQueue: 'a',
    flavor: 'f',
    resource: 'cpu',
    needs: '4',
    points: [
      { at: at(50), low: '0', median: '0', high: '0' },
      { at: at(70), low: '0', median: '2', high: '4' },
    ],
  }
  const { median, band, top, now } = stepsOf(axis, reach, 100, 46)
  expect(top).toBeCloseTo(4.6)
  expect(now).toBe(0)
  expect(median).toBe('M0 46H50V26H100')
  expect(band).toBe('M0 46H50V6H100V46H50V46H0Z')
})
