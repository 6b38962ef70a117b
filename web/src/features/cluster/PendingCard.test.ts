import { flushPromises, mount } from '@vue/test-utils'
import { afterEach, expect, it, vi } from 'vitest'
import * as simulator from '@/api/simulator'
import type { Refusal, Summary } from '@/api/types'
import { i18n } from '@/i18n'
import { pod } from '@/kubernetes/testing'
import { results } from '@/live/watched'
import { mockFunctions } from '@/ui/testing'
import PendingCard from './PendingCard.vue'

const server = mockFunctions(simulator)

const refusal: Refusal = {
  extensionPoint: 'filter',
  plugin: 'NodeResourcesFit',
  reason: 'Insufficient cpu',
  nodes: 2,
  others: 1,
  further: [{ plugin: 'TaintToleration', reason: 'node(s) had untolerated taint(s)', nodes: 1 }],
}
const summary: Summary = {
  pod: { namespace: 'default', name: 'late', uid: 'u' },
  attempt: 1,
  profile: 'default-scheduler',
  startTime: '2026-01-02T03:04:05Z',
  durationSeconds: 0.01,
  outcome: 'unschedulable',
  nodes: { total: 3, evaluated: 3, feasible: 0 },
  refusal,
}
const message = '0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu. preemption: none.'

async function card(): Promise<string> {
  const late = pod(
    'late',
    {},
    { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }] },
    { uid: 'u' }
  )
  const wrapper = mount(PendingCard, { props: { pod: late, colour: 0, selected: false }, global: { plugins: [i18n] } })
  await flushPromises()
  return wrapper.text()
}
afterEach(() => {
  results.value = { items: [], synced: true }
  vi.resetAllMocks()
})

it('shows every reason with its plugin, also the one of the fewest nodes', async () => {
  results.value = { items: [summary], synced: true }
  expect(await card()).toMatch(
    /NodeResourcesFit Insufficient cpu, on 2 of 3.*TaintToleration node\(s\) had untolerated taint\(s\), on 1 of 3$/
  )
})
it('asks for the decision when it is older than the live ones', async () => {
  server.listResults.mockResolvedValue({ items: [summary], continue: '' })
  expect(await card()).toContain('TaintToleration')
})
it('has the reasons of the message when there is no decision with plugins', async () => {
  server.listResults.mockResolvedValue({ items: [], continue: '' })
  expect(await card()).toMatch(/Insufficient cpu, on 2 of 3.*node\(s\) had untolerated taint\(s\), on 1 of 3$/)
})
