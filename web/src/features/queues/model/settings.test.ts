import { describe, expect, it } from 'vitest'
import type { KueueConfiguration } from '@/api/types'
import { configurationOf, formOf } from './settings'

/** As the API gets it: without what is undefined. */
const sent = (configuration: KueueConfiguration): unknown => JSON.parse(JSON.stringify(configuration))

describe('the settings of Kueue', () => {
  it('shows the defaults of Kueue', () => {
    expect(formOf({})).toEqual({
      fair: false,
      strategies: 'both',
      usage: false,
      halfLife: '',
      elastic: false,
      waits: true,
      timeout: '',
      block: false,
      base: '',
      most: '',
      limit: '',
    })
  })

  it('writes what the user changes and keeps what the form does not show', () => {
    const before: KueueConfiguration = {
      waitForPodsReady: {
        timeout: '1h30m0s',
        recoveryTimeout: '3m0s',
        requeuingStrategy: { timestamp: 'Creation', backoffLimitCount: 5 },
      },
      resources: { excludeResourcePrefixes: ['example.com'] },
    }
    const form = formOf(before)
    expect(form.timeout).toBe('1h30m')
    expect(form.limit).toBe('5')
    expect(
      sent(configurationOf({ ...form, fair: true, strategies: 'initial', limit: '', base: '10' }, before))
    ).toEqual({
      fairSharing: { preemptionStrategies: ['LessThanInitialShare'] },
      waitForPodsReady: {
        timeout: '1h30m',
        recoveryTimeout: '3m0s',
        requeuingStrategy: { timestamp: 'Creation', backoffBaseSeconds: 10 },
      },
      resources: { excludeResourcePrefixes: ['example.com'] },
    })
  })

  it.each([
    [{ fairSharing: {} }, { fair: true, strategies: 'both' }],
    [{ fairSharing: { enable: false } }, { fair: false }],
    [{ fairSharing: { preemptionStrategies: ['LessThanOrEqualToFinalShare'] } }, { fair: true, strategies: 'final' }],
    [{ waitForPodsReady: { enable: false } }, { waits: false }],
    [{ admissionFairSharing: { usageHalfLifeTime: '168h0m0s' } }, { usage: true, halfLife: '168h' }],
    [{ featureGates: { ElasticJobsViaWorkloadSlices: true } }, { elastic: true }],
  ] satisfies [KueueConfiguration, object][])('reads %j', (configuration, expected) => {
    expect(formOf(configuration)).toMatchObject(expected)
  })

  it('turns elastic jobs and sharing by usage on and off', () => {
    const before: KueueConfiguration = {
      admissionFairSharing: { usageHalfLifeTime: '1h0m0s', resourceWeights: { cpu: 2 } },
      featureGates: { DynamicResourceAllocation: true },
    }
    const form = formOf(before)
    expect(sent(configurationOf({ ...form, halfLife: '2h', elastic: true }, before))).toEqual({
      admissionFairSharing: { usageHalfLifeTime: '2h', resourceWeights: { cpu: 2 } },
      featureGates: { DynamicResourceAllocation: true, ElasticJobsViaWorkloadSlices: true },
      waitForPodsReady: { requeuingStrategy: {} },
    })
    const on: KueueConfiguration = { featureGates: { ElasticJobsViaWorkloadSlices: true } }
    expect(sent(configurationOf({ ...form, usage: false }, on))).toEqual({
      featureGates: {},
      waitForPodsReady: { requeuingStrategy: {} },
    })
  })

  it('turns either off', () => {
    expect(
      sent(configurationOf({ ...formOf({ fairSharing: {} }), fair: false, waits: false }, { fairSharing: {} }))
    ).toEqual({ waitForPodsReady: { enable: false } })
  })
})
