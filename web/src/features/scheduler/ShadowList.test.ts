import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { createMemoryHistory, createRouter } from 'vue-router'
import type { ShadowItem } from '@/api/types'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { pods } from '@/live/watched'
import ShadowList from './ShadowList.vue'

const item: ShadowItem = {
  pod: { namespace: 'shop', name: 'api-1', uid: 'u1' },
  attempt: 1,
  time: '2026-01-02T10:00:00Z',
  profile: 'default-scheduler',
  live: { node: 'c1' },
  shadow: { node: 'b1' },
  verdict: 'elsewhere',
  differs: true,
}
const counts = { same: 0, asGood: 0, elsewhere: 1, pending: 0, placed: 0 }

it('says of a draft what both would choose now, and on which node the pod runs', async () => {
  await loadDeferredMessages()
  pods.value = {
    ...pods.value,
    items: new Map([
      ['shop/api-1', { metadata: { namespace: 'shop', name: 'api-1', uid: 'u1' }, spec: { nodeName: 'a1' } } as never],
    ]),
  }
  const router = createRouter({
    history: createMemoryHistory(),
    routes: [{ path: '/:rest(.*)*', component: { template: '<p />' } }],
  })
  // The table draws the rows that are in sight, of which there are none here.
  const DataTable = {
    inheritAttrs: false,
    props: ['rows', 'columns'],
    emits: ['open'],
    template:
      '<div><p>{{ columns.map((c) => c.label).join() }}</p><p><i v-for="c in columns"><slot name="cell" :' +
      'row="rows[0]" :column="c" />,</i></p></div>',
  }
  const said = (asked: boolean) =>
    mount(ShadowList, {
      props: { items: [item], counts, judged: 1, asked },
      global: { plugins: [i18n, router], stubs: { DataTable } },
    }).text()
  expect(said(true)).toContain('Runs on,Running would choose now,Draft would choose now')
  expect(said(true)).toContain('a1,c1,b1')
  expect(said(true)).not.toContain('Went to')
  expect(said(false)).toContain('Scheduler chose,Would go to')
})
