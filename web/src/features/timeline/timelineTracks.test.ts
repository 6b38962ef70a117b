import { mount } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { clock, step } from './model/testing'
import type { UsageRow } from './model/usage'
import TimelineTracks from './TimelineTracks.vue'

const at = (seconds: number) => Date.parse(clock(seconds))
const axis = { from: at(0), to: at(200) }
const steps = [
  step(10),
  step(50, {
    kind: 'failure',
    verb: 'notReady',
    objects: [{ apiVersion: 'v1', kind: 'Node', name: 'n1' }],
    endTime: clock(90),
  }),
  step(120, { kind: 'configuration', revision: 2 }),
]
const buckets = [
  { time: clock(0), events: 3, scheduled: 2, unschedulable: 0 },
  { time: clock(100), events: 0, scheduled: 0, unschedulable: 1 },
]
const usage: UsageRow[] = [
  {
    id: 'cpu',
    kind: 'resource',
    most: 100,
    values: [
      { at: at(0), value: 25 },
      { at: at(100), value: 75 },
    ],
  },
]

await loadDeferredMessages()
function tracks(time: number | undefined) {
  const page = mount(TimelineTracks, {
    props: { axis, steps, buckets, usage, time, from: undefined },
    global: { plugins: [i18n] },
  })
  const area = page.get('.area')
  // happy-dom lays nothing out: the area is 200 px wide, so a pixel is a second.
  area.element.getBoundingClientRect = () => ({ left: 0, width: 200 }) as DOMRect
  const point = (type: string, x: number) => area.trigger(type, { clientX: x, button: 0, pointerId: 1 })
  const went = () =>
    page
      .emitted<[number | { moment: number } | undefined]>('go')
      ?.map(([to]) =>
        typeof to === 'object' ? `step ${to.moment}` : to === undefined ? 'now' : (to - at(0)) / 1000
      ) ?? []
  return { page, point, went, head: page.get('[role="slider"]') }
}

it('tells the use at the playhead, which is that of now in the present', () => {
  const figure = (time: number | undefined) => tracks(time).page.get('[data-usage="cpu"] b').text()
  expect([undefined, at(99), at(100)].map(figure)).toEqual(['75%', '25%', '75%'])
})

describe('the playhead', () => {
  it('moves by keys, and leaves the past at the end', async () => {
    const { head, went } = tracks(at(60))
    for (const key of ['ArrowRight', 'PageDown', 'Home', 'End', 'x']) await head.trigger('keydown', { key })
    expect(went()).toEqual([61, 120, 0, 'now'])
  })
  it('follows the pointer, and tells when it is let go', async () => {
    const { page, point, went } = tracks(undefined)
    await point('pointerdown', 100)
    await point('pointermove', 80)
    await point('pointermove', 70)
    await point('pointerup', 70)
    await point('pointermove', 30)
    expect(went()).toEqual([80, 70, 70])
    expect(page.emitted('hold')).toEqual([[true], [false]])
  })
  it('goes to now beyond the right end', async () => {
    const { point, went } = tracks(at(60))
    await point('pointerdown', 60)
    await point('pointermove', 230)
    await point('pointerup', 230)
    expect(went()).toEqual(['now', 'now'])
  })
  it('stands on an axis whose ticks all read differently', () => {
    const ticks = tracks(undefined)
      .page.findAll('.ax span')
      .map((tick) => tick.text())
    expect(ticks.length).toBeGreaterThan(1)
    expect(new Set(ticks).size).toBe(ticks.length)
  })
  it('says its time to screen readers', () => {
    expect(tracks(undefined).head.attributes('aria-valuetext')).toBe('now')
    const { head } = tracks(at(50))
    expect([head.attributes('aria-valuenow'), head.attributes('aria-valuetext')?.slice(0, 10)]).toEqual([
      '250',
      '2026-01-01',
    ])
  })
})

describe('the tracks', () => {
  it('mark what is later than the moment shown', () => {
    const { page } = tracks(at(60))
    expect(page.findAll('.dia').map((mark) => mark.classes('later'))).toEqual([false, true])
    expect(page.findAll('.de rect').map((bar) => bar.classes('later'))).toEqual([false, true])
  })
  it('mark nothing as later in the present', () => {
    expect(tracks(undefined).page.findAll('.later')).toEqual([])
  })
  it('tell a failure with its length', () => {
    expect(tracks(undefined).page.get('.fl > span').attributes('title')).toBe('n1 not ready, 40 s')
  })
})
