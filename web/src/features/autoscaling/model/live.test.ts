import { expect, it } from 'vitest'
import { cloudForm, settingsOf, shows } from './live'

it('keeps what the form does not show', () => {
  const settings = {
    on: true,
    registrationDelay: '30s',
    noCapacity: [{ zone: 'zone-a' }, { capacityType: 'spot' }, { zone: 'zone-b', instanceType: 'c-2x-amd64-linux' }],
    launchFails: 'quota',
  }
  const form = cloudForm(settings)
  expect(form).toEqual({ delay: '30s', zones: 'zone-a', noSpot: true, fails: true, neverReady: false })
  expect(settingsOf({ ...form, zones: 'zone-c zone-d', noSpot: false, fails: false }, settings)).toEqual({
    registrationDelay: '30s',
    noCapacity: [{ zone: 'zone-b', instanceType: 'c-2x-amd64-linux' }, { zone: 'zone-c' }, { zone: 'zone-d' }],
    launchFails: '',
    neverReady: false,
  })
  expect(settingsOf(form, settings).launchFails).toBe('quota')
})

it('separates what Karpenter did from why it did nothing', () => {
  expect(shows('done', { kind: 'launched' })).toBe(true)
  expect(shows('done', { kind: 'said', reason: 'Evicted' })).toBe(true)
  expect(shows('done', { kind: 'said', reason: 'Unconsolidatable' })).toBe(false)
  expect(shows('said', { kind: 'said', reason: 'Unconsolidatable' })).toBe(true)
  expect(shows('said', { kind: 'ended' })).toBe(false)
  expect(shows('all', { kind: 'ended' })).toBe(true)
})
