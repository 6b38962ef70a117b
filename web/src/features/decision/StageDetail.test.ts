import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import type { Cycle } from '@/api/types'
import { filterMatrix } from './model/matrix'
import { sampleCycle } from './model/testing'
import { scoreTable } from './model/scores'
import { i18n } from '@/i18n'
import StageDetail from './StageDetail.vue'

const shown = (stage: string, change: Partial<Cycle> = {}) => {
  const cycle = sampleCycle(change)
  return mount(StageDetail, {
    props: { cycle, stage, matrix: filterMatrix(cycle), table: scoreTable(cycle) },
    global: { plugins: [i18n] },
  })
}
const lines = (wrapper: ReturnType<typeof shown>, selector: string) =>
  wrapper.findAll(selector).map((line) => line.text().replace(/\s+/g, ' '))

it('never shows a duration of 0 for what was not measured', () => {
  const { filter } = sampleCycle()
  if (!filter) throw new Error('no filter')
  const seconds = filter.plugins.map((_, p) => (p === 1 ? null : 12e-6))
  const rows = lines(shown('Filter', { filter: { ...filter, durationSeconds: seconds } }), 'tbody tr')
  expect(rows[0]).toBe('NodeName012 µs')
  expect(rows[1]).toBe('NodeUnschedulable0not measured')
  expect(rows[4]).toBe('NodePortsskipped') // it was not called, so nothing is said about its duration
})

it('shows the wait at Permit, which asked for it, and as a step of its own', () => {
  const permitWait: Cycle['permitWait'] = {
    plugins: ['Hold'],
    durationSeconds: 10.001,
    status: 'Unschedulable',
    plugin: 'Hold',
    timedOut: true,
    reasons: ['rejected due to timeout'],
  }
  const permit: Cycle['permit'] = [{ plugin: 'Hold', status: 'Wait', durationSeconds: 1e-6, timeoutSeconds: 10 }]
  for (const stage of ['Permit', 'WaitOnPermit']) {
    expect(lines(shown(stage, { permit, permitWait }), '[data-testid=permit-wait]')).toEqual([
      'WaitOnPermitUnschedulable10.0 sHold did not allow the pod in timerejected due to timeout',
    ])
  }
  const waiting = shown('WaitOnPermit', { permit, permitWait: { plugins: ['Hold'], durationSeconds: null } })
  expect(lines(waiting, '[data-testid=permit-wait]')).toEqual(['WaitOnPermitwaiting for Hold'])
})

it('shows at PreBind which plugins had work to do', () => {
  const wrapper = shown('PreBind', {
    preBindPreFlight: [
      { plugin: 'VolumeBinding', status: 'Skip', durationSeconds: 1e-6 },
      { plugin: 'Warmup', status: 'Success', durationSeconds: 2e-6, parallel: true },
    ],
    preBind: [
      { plugin: 'VolumeBinding', status: 'Skip', durationSeconds: 1e-6 },
      { plugin: 'Warmup', status: 'Success', durationSeconds: 0.5 },
    ],
  })
  expect(lines(wrapper, '[data-testid=pre-flight] li')).toEqual([
    'VolumeBindingSkip1 µs',
    'WarmupSuccess2 µsits PreBind may run beside those of its neighbours',
  ])
})

it('counts the calls that made the state of a plugin a hypothesis', () => {
  const preFilterExtensions: Cycle['preFilterExtensions'] = [
    { plugin: 'PodTopologySpread', point: 'filter', added: 1, removed: 0, durationSeconds: 3e-6 },
    {
      plugin: 'PodTopologySpread',
      point: 'postFilter',
      added: 2,
      removed: 3,
      failed: 1,
      errors: ['no such node'],
      durationSeconds: 9e-6,
    },
  ]
  expect(lines(shown('Filter', { preFilterExtensions }), '[data-testid=extension-calls] li')).toEqual([
    'PodTopologySpreadAddPod × 1, RemovePod × 03 µs',
  ])
  const postFilter: Cycle['postFilter'] = [{ plugin: 'DefaultPreemption', status: 'Success', durationSeconds: 1e-3 }]
  expect(lines(shown('PostFilter', { preFilterExtensions, postFilter }), '[data-testid=extension-calls] li')).toEqual([
    'PodTopologySpreadAddPod × 2, RemovePod × 39 µs1 failed: no such node',
  ])
})

it('lists who was unreserved', () => {
  const unreserve: Cycle['unreserve'] = [
    { plugin: 'DynamicResources', status: 'Success', durationSeconds: 1e-6 },
    { plugin: 'VolumeBinding', status: 'Success', durationSeconds: 1e-6 },
  ]
  expect(lines(shown('Unreserve', { unreserve }), '.answers li')).toEqual([
    'DynamicResourcesSuccess1 µs',
    'VolumeBindingSuccess1 µs',
  ])
})
