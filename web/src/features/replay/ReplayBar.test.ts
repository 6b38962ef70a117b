import { flushPromises, mount, type VueWrapper } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import * as api from '@/api/replay'
import type { Replay } from '@/api/replay'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import ReplayBar from './ReplayBar.vue'

vi.mock('@/api/replay')

const replay = (change: Partial<Replay> = {}): Replay => ({
  name: 'prod.rec',
  state: 'paused',
  start: '2026-11-20T08:00:00Z',
  end: '2026-11-20T08:10:00Z',
  position: '2026-11-20T08:05:00Z',
  changes: 1200,
  applied: 600,
  speed: 10,
  waitForScheduler: true,
  followRecording: false,
  failed: 2,
  decisions: { compared: 30, matching: 27, different: 2, pending: 1, tied: 0 },
  ...change,
})
let wrapper: VueWrapper
function show(change: Partial<Replay> = {}) {
  wrapper = mount(ReplayBar, {
    props: { replay: replay(change) },
    global: { plugins: [i18n], stubs: { RouterLink: { template: '<a><slot /></a>' } } },
  })
}
const asked = () => vi.mocked(api.changeReplay).mock.calls.map(([change]) => change)

beforeAll(loadDeferredMessages)
beforeEach(() => {
  vi.useFakeTimers()
  vi.mocked(api.changeReplay).mockResolvedValue(replay())
  vi.mocked(api.stepReplay).mockResolvedValue(replay())
})
afterEach(() => {
  wrapper.unmount()
  vi.clearAllMocks()
  vi.useRealTimers()
})

describe('ReplayBar', () => {
  it('shows the position, the progress and the comparison', () => {
    show()
    const text = wrapper.text()
    expect(text).toContain('5:00')
    expect(text).toContain('10:00')
    expect(text).toContain('600 of 1,200 changes, 2 rejected')
    expect(text).toContain('27 matching')
    expect(wrapper.get('input[type="range"]').attributes('aria-valuetext')).toMatch(/^5:00 of 10:00, recorded at/)
  })

  it('plays and pauses by button and by the space key', async () => {
    show()
    await wrapper.get('button[aria-label="Play"]').trigger('click')
    await wrapper.get('input[type="range"]').trigger('keydown', { key: ' ' })
    expect(asked()).toEqual([{ state: 'playing' }, { state: 'playing' }])
    await wrapper.setProps({ replay: replay({ state: 'playing' }) })
    await wrapper.get('button[aria-label="Pause"]').trigger('click')
    expect(asked()[2]).toEqual({ state: 'paused' })
  })

  it('starts over at the end', async () => {
    show({ state: 'finished', position: '2026-11-20T08:10:00Z' })
    await wrapper.get('button[aria-label="Play from the start"]').trigger('click')
    expect(asked()).toEqual([{ position: '2026-11-20T08:00:00Z', state: 'playing' }])
  })

  it('seeks once for a series of keys', async () => {
    show()
    const slider = wrapper.get('input[type="range"]')
    for (let i = 0; i < 3; i++) await slider.trigger('keydown', { key: 'ArrowRight' })
    expect(wrapper.text()).toContain('5:30')
    expect(asked()).toEqual([])
    vi.advanceTimersByTime(600)
    await flushPromises()
    expect(asked()).toEqual([{ position: '2026-11-20T08:05:30.000Z' }])
  })

  it('steps only while paused', async () => {
    show()
    await wrapper.get('button[aria-label="Next change"]').trigger('click')
    expect(api.stepReplay).toHaveBeenCalledOnce()
    await wrapper.setProps({ replay: replay({ state: 'playing' }) })
    expect(wrapper.get('button[aria-label="Next change"]').attributes('disabled')).toBeDefined()
  })

  it('changes the speed and whether it waits', async () => {
    show()
    await wrapper.get('select').setValue('0')
    await wrapper.get('input[type="checkbox"]').trigger('change')
    expect(asked()).toEqual([{ speed: 0 }, { waitForScheduler: false }])
  })

  it('shows an error', () => {
    show({ state: 'failed', message: 'the API server is gone' })
    expect(wrapper.get('[role="status"]').text()).toBe('the API server is gone')
  })
})
