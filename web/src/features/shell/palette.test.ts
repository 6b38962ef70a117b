import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Replay } from '@/api/replay'
import { asked } from '@/features/act/store/asked'
import { createOpen } from '@/features/create/store/create'
import * as store from '@/features/replay/store/replay'
import { transferDialog } from '@/features/transfer/store/transfer'
import { loadDeferredMessages } from '@/i18n/deferred'
import { language } from '@/i18n/language'
import { node, pod } from '@/kubernetes/testing'
import { kinds } from '@/live/discovery'
import { transfers } from '@/live/servedTransfers'
import { status } from '@/live/status'
import { model, nodes, pods } from '@/live/watched'
import { notices } from '@/ui/notices'
import { withSetup, type Running } from '@/ui/testing'
import { views } from './model/places'
import { pluginNames } from './store/plugins'
import { usePaletteActions } from './usePaletteActions'
import { usePaletteSearch, type PaletteSearch } from './usePaletteSearch'
import { usePaletteVerbs } from './usePaletteVerbs'
import { typedAhead } from './store/typedAhead'
import { useShortcuts } from './useShortcuts'

vi.mock('@/features/replay/store/replay', async () => {
  const { shallowRef } = await import('vue')
  return { replay: shallowRef(), recordingChosen: shallowRef(), changeReplay: vi.fn(), stepReplay: vi.fn() }
})

const help = vi.fn()
const routes = [
  { path: '/', name: 'cluster' },
  { path: '/resources/:resource?', name: 'resources' },
  { path: '/decisions', name: 'decisions' },
  { path: '/decisions/:namespace/:name', name: 'decision' },
  { path: '/scheduler', name: 'scheduler' },
  { path: '/why', name: 'why' },
  { path: '/learn/glossary', name: 'glossary' },
  { path: '/batch/quotas', name: 'quotas' },
  { path: '/batch/sessions', name: 'sessions' },
]
const serve = (...names: string[]) => {
  transfers.value = new Set(names) as unknown as typeof transfers.value
}

beforeAll(loadDeferredMessages)

describe('the palette', () => {
  let page: Running<PaletteSearch>
  const ids = () => page.value.found.value.map((e) => e.id)
  const find = (text: string) => {
    page.value.text.value = text
    return ids()
  }
  const run = async (text: string, id: string) => {
    page.value.text.value = text
    page.value.found.value.find((e) => e.id === id)?.run()
    await flushPromises()
    return page.router.currentRoute.value.fullPath
  }
  beforeEach(async () => {
    model.setNode('node-1', node('node-1'))
    nodes.value = { ...nodes.value }
    pods.value = {
      items: new Map([['shop/web-1', pod('web-1', { nodeName: 'node-1' }, {}, { namespace: 'shop' })]]),
      synced: true,
      error: undefined,
    }
    kinds.value = [
      { group: 'batch', version: 'v1', kind: 'Job', resource: 'jobs', namespaced: true, verbs: ['list', 'watch'] },
    ]
    pluginNames.value = ['NodeAffinity']
    page = await withSetup(() => usePaletteSearch({ ...usePaletteActions(help), verbs: usePaletteVerbs().verbs }), {
      at: '/why',
      routes,
    })
  })
  afterEach(() => {
    page.unmount()
    model.setNode('node-1', undefined)
    transfers.value = undefined
    store.replay.value = undefined
    transferDialog.value = undefined
    createOpen.value = false
    asked.value = undefined
    language.value = 'en'
    notices.value = []
    vi.clearAllMocks()
  })

  it('finds objects, kinds and plugins, and goes to them', async () => {
    expect(await run('web', 'pod:shop/web-1')).toBe('/decisions/shop/web-1')
    expect(await run('node-1', 'node:node-1')).toBe('/resources/nodes?select=node-1')
    expect(await run('job', 'kind:jobs.batch')).toBe('/resources/jobs.batch')
    expect(await run('affinity', 'plugin:NodeAffinity')).toBe('/scheduler?plugin=NodeAffinity')
    expect(await run('', 'place:cluster')).toBe('/')
    expect(await run('quota', 'board:quotas')).toBe('/batch/quotas')
    expect(await run('sessions', 'board:sessions')).toBe('/batch/sessions')
  })

  it('lists after > what can be done, and no pages', () => {
    const found = find('>')
    expect(found).toEqual(
      expect.arrayContaining(['verb:taint', 'verb:scale', 'verb:rejectedBy', 'verb:weight', 'create', 'dark'])
    )
    expect(found.filter((id) => id.startsWith('place:'))).toEqual([])
    expect(find('').filter((id) => id.startsWith('place:'))).toHaveLength(views.length)
  })

  it('answers questions in words', async () => {
    expect(find('what is a taint')).toContain('term:taint')
    expect(find('テイントとは taint')).toContain('term:taint')
    expect(find('?nominated')).toEqual(['term:nominated-node'])
    expect(find('why is my pod pending')).toContain('answer:why')
    expect(find('why is web-1 there')).toContain('answer:shop/web-1')
    expect(await run('why is web-1 there', 'answer:shop/web-1')).toBe('/decisions/shop/web-1')
    expect(find('drain node-1')).toContain('verb:drain node-1')
    await run('drain node-1', 'verb:drain node-1')
    expect(asked.value).toMatchObject({ verb: 'drain', refs: [{ name: 'node-1' }] })
    expect(find('where is web-1')).toContain('pod:shop/web-1')
  })

  it('says of a pending pod what the map says', () => {
    status.value = { scheduler: { profiles: ['default-scheduler'] } } as typeof status.value
    model.setPod('shop/lost', pod('lost', { schedulerName: 'nobody' }, {}, { namespace: 'shop' }))
    pods.value = { ...pods.value }
    find('why is my pod pending')
    expect(page.value.found.value.find((e) => e.id === 'answer:shop/lost')?.detail).toContain('nobody')
    model.setPod('shop/lost', undefined)
    status.value = undefined
  })

  it('completes a verb argument by argument, and takes them back', async () => {
    const { value: palette } = page
    await run('taint', 'verb:taint')
    expect([palette.asks.value, ids()]).toEqual(['a node', ['verb:taint node-1']])
    await run('node', 'verb:taint node-1')
    expect(find('team=blue')).toEqual([])
    await run('team=blue:NoSchedule', 'verb:taint team=blue:NoSchedule')
    expect(asked.value).toMatchObject({
      verb: 'taint',
      refs: [{ name: 'node-1' }],
      input: { addTaints: [{ key: 'team', value: 'blue', effect: 'NoSchedule' }] },
    })
    palette.back()
    expect([palette.asks.value, palette.command.value?.chosen.length]).toEqual(['a node', 0])
    palette.back()
    expect(palette.command.value).toBeUndefined()
  })

  it('shows the decisions that a plugin rejected by a link that keeps the search', async () => {
    await run('rejected by', 'verb:rejectedBy')
    expect(await run('affinity', 'verb:rejectedBy NodeAffinity')).toBe('/decisions?plugin=NodeAffinity')
  })

  it('shows the decisions that rejected a node, by any plugin or one', async () => {
    await run('rejected node', 'verb:rejectedOn')
    await run('node', 'verb:rejectedOn node-1')
    expect(await run('affinity', 'verb:rejectedOn NodeAffinity')).toBe(
      '/decisions?rejectedOn=node-1&plugin=NodeAffinity'
    )
    await run('rejected node', 'verb:rejectedOn')
    await run('node', 'verb:rejectedOn node-1')
    expect(await run('any', 'verb:rejectedOn ')).toBe('/decisions?rejectedOn=node-1')
  })

  it('offers only the transfers that the server serves', async () => {
    expect(find('import')).not.toContain('import')
    serve('import')
    expect(ids()).toContain('import')
    expect(find('export')).not.toContain('export')
    serve('export')
    await run('export', 'export')
    expect(transferDialog.value).toBe('export')
  })

  it('offers replay actions that fit its state, and reports failures', async () => {
    const offered = () => find('replay').filter((id) => id.startsWith('replay:'))
    expect(offered()).toEqual([])
    store.replay.value = { state: 'paused' } as Replay
    expect(offered()).toEqual(['replay:play', 'replay:step'])
    vi.mocked(store.stepReplay).mockRejectedValue(new Error('at the end'))
    await run('replay', 'replay:step')
    expect(notices.value).toMatchObject([{ kind: 'failed', text: 'at the end' }])
    store.replay.value = { state: 'playing' } as Replay
    expect(offered()).toEqual(['replay:pause'])
    store.replay.value = { state: 'seeking' } as Replay
    expect(offered()).toEqual([])
  })

  it('offers the other language', async () => {
    await run('日本語', 'ja')
    expect(language.value).toBe('ja')
    expect(find('English')).toContain('en')
  })

  it('wraps around at the ends, and starts at the best match of a new text', async () => {
    const { text, found, at, step, groups } = page.value
    step(-1)
    expect(at.value).toBe(found.value.length - 1)
    step(1)
    expect(at.value).toBe(0)
    step(1)
    text.value = 'node'
    await flushPromises()
    expect(at.value).toBe(0)
    expect(groups.value.flatMap((g) => g.entries.map((e) => e.index))).toEqual(found.value.map((_, i) => i))
  })

  it('opens the create dialog and the list of shortcuts', async () => {
    await run('', 'create')
    expect(createOpen.value).toBe(true)
    const { value: all } = await withSetup(() => usePaletteActions(help), { routes })
    all.actions.value.find((a) => a.id === 'help')?.run()
    expect(help).toHaveBeenCalledOnce()
  })
})

describe('the shortcuts', () => {
  let page: Running<ReturnType<typeof useShortcuts>>
  const press = async (key: string, more: KeyboardEventInit = {}, target: EventTarget = document.body) => {
    const event = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more })
    target.dispatchEvent(event)
    await flushPromises()
    return event.defaultPrevented
  }
  beforeEach(async () => {
    page = await withSetup(useShortcuts, { at: '/', routes })
  })
  afterEach(() => {
    page.unmount()
    createOpen.value = false
    document.querySelector('dialog')?.remove()
  })

  it('open and close the palette, also from a field', async () => {
    const field = document.body.appendChild(document.createElement('input'))
    expect(await press('k', { ctrlKey: true }, field)).toBe(true)
    expect(page.value.paletteOpen.value).toBe(true)
    await press('k', { ctrlKey: true }, field)
    expect(page.value.paletteOpen.value).toBe(false)
    field.remove()
  })

  // The palette loads when it is first opened, and on a slow machine the user types faster.
  it('leave to the palette what is typed before it appears', async () => {
    await press('k', { ctrlKey: true })
    for (const key of [...'g c?', 'Enter', 'x']) expect(await press(key)).toBe(true)
    expect([typedAhead.value, createOpen.value, page.value.helpOpen.value]).toEqual(['g c?\nx', false, false])
    await press('k', { ctrlKey: true })
    expect([typedAhead.value, page.value.paletteOpen.value]).toEqual(['', false])
  })

  it('open pages, the create dialog and the help', async () => {
    await press('g')
    await press('s')
    expect(page.router.currentRoute.value.name).toBe('scheduler')
    await press('c')
    expect(createOpen.value).toBe(true)
    await press('?')
    expect(page.value.helpOpen.value).toBe(true)
  })

  it('do nothing in a dialog, except that Ctrl-K closes the palette', async () => {
    const dialog = document.body.appendChild(document.createElement('dialog'))
    dialog.setAttribute('open', '')
    expect(await press('c')).toBe(false)
    expect(await press('k', { ctrlKey: true })).toBe(false)
    expect([createOpen.value, page.value.paletteOpen.value]).toEqual([false, false])
    page.value.paletteOpen.value = true
    await press('k', { ctrlKey: true })
    expect(page.value.paletteOpen.value).toBe(false)
  })

  it('stop working when the application is unmounted', async () => {
    page.unmount()
    expect(await press('c')).toBe(false)
  })
})
