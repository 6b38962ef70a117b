import { mount } from '@vue/test-utils'
import { afterEach, expect, it } from 'vitest'
import * as simulator from '@/api/simulator'
import type { Pod, Summary } from '@/api/types'
import { createMemoryHistory, createRouter } from 'vue-router'
import { i18n } from '@/i18n'
import { pod } from '@/kubernetes/testing'
import { model, pods, results } from '@/live/watched'
import { mockFunctions } from '@/ui/testing'
import ClusterSide from './ClusterSide.vue'

mockFunctions(simulator)

afterEach(() => {
  for (const key of pods.value.items.keys()) model.setPod(key, undefined)
  pods.value = { items: new Map(), synced: true, error: undefined }
  results.value = { items: [], synced: true }
})
function show(...all: readonly Pod[]) {
  for (const one of all) model.setPod(`${one.metadata.namespace}/${one.metadata.name}`, one)
  pods.value = {
    items: new Map(all.map((one) => [`${one.metadata.namespace}/${one.metadata.name}`, one])),
    synced: true,
    error: undefined,
  }
}
const nothing = { template: '' }
const router = () =>
  createRouter({
    history: createMemoryHistory(),
    routes: [
      { path: '/resources/:resource', name: 'resources', component: nothing },
      { path: '/decisions', name: 'decisions', component: nothing },
      { path: '/:rest(.*)*', component: nothing },
    ],
  })
const side = () =>
  mount(ClusterSide, {
    props: {
      selected: '',
      moment: 'now',
      tally: undefined,
      cycle: undefined,
      legend: false,
      nearest: undefined,
      show: '',
    },
    global: { plugins: [i18n, router()] },
  })
const owned = (name: string, kind: string, owner: string) =>
  pod(name, { nodeName: 'n1' }, {}, { ownerReferences: [{ kind, name: owner, controller: true }] })

it('tells owners of one name apart by their namespaces', () => {
  const inNamespace = (namespace: string, app: string) => {
    const one = pod(`${app}-1`, { nodeName: 'n1' }, {}, { labels: { app } })
    return { ...one, metadata: { ...one.metadata, namespace } }
  }
  show(inNamespace('team-a', 'web'), inNamespace('team-b', 'web'), inNamespace('team-b', 'db'))
  expect(
    side()
      .findAll('.own:not(.recent) li')
      .map((row) => row.text().replace(/\s+/g, ' '))
  ).toEqual(['webteam-aapp1', 'dbapp1', 'webteam-bapp1'])
})

// A row of an owner once looked like a button and did nothing.
it('leads from every owner to its page or decisions, and from its number to its pods', () => {
  show(
    owned('db-0', 'StatefulSet', 'db'),
    owned('custom-1', 'Workflow', 'custom'),
    pod('labelled', { nodeName: 'n1' }, {}, { labels: { app: 'shop' } })
  )
  const rows = side().findAll('.own:not(.recent) li')
  expect(rows.map((row) => row.findAll('a').map((a) => decodeURIComponent(a.attributes('href') ?? '')))).toEqual([
    ['/resources/statefulsets.apps?select=default/db', '/resources/pods?ns=default&owner=StatefulSet/db'],
    ['/decisions?namespace=default&owner=Workflow/custom', '/resources/pods?ns=default&owner=Workflow/custom'],
    ['/resources/pods?ns=default&owner=app/shop', '/resources/pods?ns=default&owner=app/shop'],
  ])
  // Nothing else in a row reacts to a click but the menu of what has one.
  expect(rows.map((row) => row.findAll('button').length)).toEqual([1, 0, 0])
})

it('counts with thousands separators', () => {
  show(
    ...Array.from({ length: 1001 }, (_, i) => owned(`web-${i}`, 'StatefulSet', 'web')),
    ...Array.from({ length: 1002 }, (_, i) => pod(`p${i}`))
  )
  const text = side().text()
  expect(text).toContain('1,001')
  expect(text).toContain('1,002')
  expect(text).not.toMatch(/\b100[12]\b/)
})

it('lists the newest attempt of each pod, in the order in which attempts began', () => {
  const attempt = (name: string, n: number): Summary => ({
    pod: { namespace: 'default', name, uid: name },
    attempt: n,
    profile: 'default-scheduler',
    startTime: '2026-01-02T03:04:05Z',
    durationSeconds: 0,
    outcome: 'unschedulable',
    nodes: { total: 1, evaluated: 1, feasible: 0 },
  })
  results.value = { items: [attempt('b', 2), attempt('a', 1), attempt('b', 1)], synced: true }
  expect(
    side()
      .findAll('.recent li')
      .map((row) => row.text())
  ).toEqual(['unschedulablebattempt 2', 'unschedulableaattempt 1'])
})
