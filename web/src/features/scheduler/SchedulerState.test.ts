import { mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import type { ConnectionState } from '@/api/watch'
import type { Status } from '@/api/types'
import { i18n } from '@/i18n'
import { connection, status } from '@/live/status'
import SchedulerState from './SchedulerState.vue'

const before = connection.value
afterEach(() => {
  connection.value = before
  status.value = undefined
})

const phase = () =>
  mount(SchedulerState, { global: { plugins: [i18n], stubs: { RouterLink: true } } })
    .get('[data-testid="scheduler-phase"]')
    .text()
const running = { phase: 'running', scheduler: { phase: 'running', revision: 3 } } as Status

it('says that the simulator stops, when the phase of its scheduler is its own', () => {
  connection.value = { kind: 'live' } as ConnectionState
  status.value = { phase: 'stopping', scheduler: { phase: 'stopping' } } as unknown as Status
  expect(phase()).toBe('Simulator stopping')
})

it('says that the scheduler starts while the server has no phase of it yet', () => {
  connection.value = { kind: 'live' } as ConnectionState
  status.value = { phase: 'starting', scheduler: { phase: '' } } as unknown as Status
  expect(phase()).toBe('Scheduler starting')
})

it('does not claim that the scheduler is starting, or running, while the simulator is away', () => {
  connection.value = { kind: 'retrying' } as ConnectionState
  status.value = undefined
  expect(phase()).toBe('Simulator unreachable')
  status.value = running
  expect(phase()).toBe('Simulator unreachable')
  connection.value = { kind: 'live' } as ConnectionState
  expect(phase()).toContain('Scheduler running')
})
