import { expect, it } from 'vitest'
import { contentOf, countIn, nameOf, readReport } from './report'

async function packed(body: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(body)]).stream().pipeThrough(new CompressionStream('gzip'))
  return btoa(String.fromCharCode(...new Uint8Array(await new Response(stream).arrayBuffer())))
}

const whole = {
  version: 1,
  provenance: { simulator: 'v1', kubernetes: 'v1.37.2', exported: '2026-11-23T10:00:00Z' },
  attempts: [],
  decision: { attempt: 1 },
}

it('reads what a file holds', async () => {
  const html = `<!doctype html><title>x</title><script type="application/json" id="report">${await packed(whole)}</script>`
  expect(await readReport(contentOf(html))).toEqual({ ...whole, kind: 'decision' })
})

it('reads runs and lessons', async () => {
  const { provenance } = whole
  const runs = {
    version: 2,
    kind: 'runs',
    provenance,
    runs: [
      { name: 'peak', results: [null, { outcome: 'passed' }] },
      { name: 'night', results: [] },
    ],
  }
  const lesson = { version: 2, kind: 'lesson', provenance, lesson: { title: 'Filters', answers: [{ id: 'a' }] } }
  for (const [body, name, count] of [
    [runs, 'peak, night', 2],
    [lesson, 'Filters', 1],
  ] as const) {
    const read = await readReport(await packed(body))
    expect([read, nameOf(read), countIn(read)]).toEqual([body, name, count])
  }
})

it('says what is wrong with a file', async () => {
  expect(() => contentOf('<p>hello</p>')).toThrow('noReport')
  for (const [content, reason] of [
    ['%', 'damaged'],
    [btoa('no gzip'), 'damaged'],
    [await packed([]), 'damaged'],
    [await packed({ ...whole, decision: undefined }), 'damaged'],
    [await packed({ ...whole, version: 2, kind: 'runs' }), 'damaged'],
    [await packed({ ...whole, version: 2, kind: 'film' }), 'damaged'],
    [await packed({ ...whole, version: 3 }), 'tooNew'],
  ] as const)
    await expect(readReport(content)).rejects.toThrow(reason)
})
