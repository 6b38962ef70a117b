import { flushPromises } from '@vue/test-utils'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { notices } from '@/ui/notices'
import { mockFunctions, withSetup, type Running } from '@/ui/testing'
import { copies, draft, draftTemplate, openCreate, openCreateText, wanted } from './store/create'
import * as files from './store/files'
import { useCreateDraft, type CreateDraft } from './useCreateDraft'
import { useDraftEntries, type DraftEntries } from './useDraftEntries'
import { useFileDrop, type FileDrop } from './useFileDrop'

mockFunctions(files, 'addFile')

const pod = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n`
let page: Running<CreateDraft & DraftEntries & FileDrop>
async function open() {
  page = await withSetup(() => ({ ...useCreateDraft(), ...useDraftEntries(), ...useFileDrop() }))
  await flushPromises()
}
async function writes(text: string) {
  draft.value = text
  await flushPromises()
}

beforeEach(() => {
  draft.value = ''
  draftTemplate.value = undefined
  wanted.value = undefined
  copies.value = 1
  notices.value = []
  files.droppedFiles.value = []
})
afterEach(() => {
  page.unmount()
  vi.clearAllMocks()
})

describe('the draft', () => {
  it('starts from the pod template, or from a requested text', async () => {
    await open()
    expect([draftTemplate.value, page.value.parsed.value.entries[0]?.kind]).toEqual(['pod', 'Pod'])
    page.unmount()
    openCreate('node')
    await open()
    expect([page.value.template.value, page.value.parsed.value.entries[0]?.kind, wanted.value]).toEqual([
      'node',
      'Node',
      undefined,
    ])
  })

  it('is no longer a template once the user edits it, and then asks before it is replaced', async () => {
    await open()
    await writes(pod('mine'))
    expect(page.value.template.value).toBeUndefined()
    page.value.template.value = 'node'
    expect(page.value.asking.value).toEqual({ template: 'node' })
    expect(draft.value).toBe(pod('mine'))
    page.value.replace({ template: 'node' })
    expect([page.value.asking.value, page.value.template.value]).toEqual([undefined, 'node'])
  })

  it('is replaced by another template without confirmation while unchanged', async () => {
    await open()
    page.value.template.value = 'node'
    expect([page.value.asking.value, page.value.template.value]).toEqual([undefined, 'node'])
  })

  it('is not replaced by a template that the page requests, and asks before a clone replaces it', async () => {
    draft.value = pod('mine')
    openCreate('node')
    await open()
    expect([draft.value, page.value.asking.value, wanted.value]).toEqual([pod('mine'), undefined, undefined])
    openCreateText(pod('clone'))
    await flushPromises()
    expect(page.value.asking.value).toEqual({ text: pod('clone') })
    page.value.append({ text: pod('clone') })
    expect(page.value.parsed.value.entries.map((e) => e.name)).toEqual(['mine', 'clone'])
    expect(page.value.asking.value).toBeUndefined()
  })

  it('is cleared together with its copies and files', async () => {
    await open()
    await writes(pod('mine'))
    copies.value = 3
    page.value.clear()
    expect([draft.value, copies.value, draftTemplate.value]).toEqual(['', 1, undefined])
  })
})

describe('the objects', () => {
  it('are the copies of the draft and the contents of files, with consecutive indexes', async () => {
    await open()
    await writes(pod('a-1'))
    copies.value = 2
    const [entry] = page.value.parsed.value.entries
    if (!entry) throw new Error('no entry')
    files.droppedFiles.value = [
      {
        id: 1,
        name: 'f',
        size: 1,
        state: 'reading',
        progress: 0,
        entries: [{ ...entry, name: 'from-file' }],
        problems: [],
        message: '',
      },
    ]
    expect(page.value.entries().map((e) => [e.index, e.name])).toEqual([
      [0, 'a-1'],
      [1, 'a-2'],
      [2, 'from-file'],
    ])
    expect([page.value.count.value, page.value.reading.value]).toEqual([3, true])
  })
})

describe('files', () => {
  const file = (name: string, text: string, size = text.length) =>
    Object.defineProperty(new File([text], name), 'size', { value: size })

  it('replace an unchanged template, and are appended to other text', async () => {
    await open()
    await page.value.take([file('a', pod('a')), file('b', pod('b'))])
    expect(page.value.parsed.value.entries.map((e) => e.name)).toEqual(['a', 'b'])
    await flushPromises()
    await page.value.take([file('c', pod('c'))])
    expect(page.value.parsed.value.entries.map((e) => e.name)).toEqual(['a', 'b', 'c'])
  })

  it('are listed beside the text if large, and refused if too large', async () => {
    await open()
    await writes(pod('mine'))
    const large = file('large', '', files.editorLimit + 1)
    await page.value.take([large, file('huge', '', files.fileLimit + 1)])
    expect(vi.mocked(files.addFile).mock.calls).toEqual([[large]])
    expect(notices.value.map((n) => [n.kind, n.text.includes('huge')])).toEqual([['failed', true]])
    expect(draft.value).toBe(pod('mine'))
  })

  it('that cannot be read are reported, and the others are added', async () => {
    await open()
    await writes(pod('mine'))
    const broken = Object.assign(file('broken', 'x'), { text: () => Promise.reject(new Error('disk on fire')) })
    await page.value.take([broken, file('b', pod('b'))])
    expect(notices.value[0]).toMatchObject({ kind: 'failed', text: expect.stringContaining('disk on fire') })
    expect(page.value.parsed.value.entries.map((e) => e.name)).toEqual(['mine', 'b'])
  })

  it('can be chosen again immediately', async () => {
    await open()
    await writes(pod('mine'))
    const input = { files: [file('b', pod('b'))], value: 'C:\\fakepath\\b' }
    page.value.onPick({ target: input } as unknown as Event)
    await flushPromises()
    expect([input.value, page.value.count.value]).toEqual(['', 2])
  })
})
