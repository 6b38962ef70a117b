import { expect, it } from 'vitest'
import { contentOf, readReport } from './report'

async function packed(body: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(body)]).stream().pipeThrough(new CompressionStream('gzip'))
  return btoa(String.fromCharCode(...new Uint8Array(await new Response(stream).arrayBuffer())))
}

const whole = { version: 1, provenance: { simulator: 'v1', kubernetes: 'v1.37.1', exported: '2026-11-23T10:00:00Z' }, attempts: [], decision: { attempt: 1 } }

it('reads what a file holds', async () => {
  const html = `<!doctype html><title>x</title><script type="application/json" id="report">${await packed(whole)}</script>`
  expect(await readReport(contentOf(html))).toEqual(whole)
})

it('says what is wrong with a file', async () => {
  expect(() => contentOf('<p>hello</p>')).toThrow('noReport')
  for (const [content, reason] of [
    ['%', 'damaged'],
    [btoa('no gzip'), 'damaged'],
    [await packed([]), 'damaged'],
    [await packed({ ...whole, decision: undefined }), 'damaged'],
    [await packed({ ...whole, version: 2 }), 'tooNew'],
  ] as const)
    await expect(readReport(content)).rejects.toThrow(reason)
})
