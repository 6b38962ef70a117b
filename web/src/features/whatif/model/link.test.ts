import { expect, it } from 'vitest'
import { decodeHypothesis, encodeHypothesis, longestLink } from './link'
import type { Hypothesis } from './hypothesis'

const hypothesis: Hypothesis = {
  changes: [
    { patch: { apiVersion: 'v1', kind: 'Node', name: 'node-b4', patch: { spec: { taints: null } } } },
    { apply: { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-b2', labels: { zone: '東京' } } }, count: 3 },
  ],
  profile: 'batch-scheduler',
}

it('comes back as it was, in the letters of a URL', async () => {
  const code = (await encodeHypothesis(hypothesis)) ?? ''
  expect(code).toMatch(/^[\w-]+$/)
  expect(code.length).toBeLessThan(JSON.stringify(hypothesis).length)
  expect(await decodeHypothesis(code)).toEqual(hypothesis)
})

it('has no link when it is too large', async () => {
  const noise = Array.from({ length: 20_000 }, (_, i) => ((i * 7919 + (i % 13) * 104729) % 65536).toString(36)).join('')
  expect(await encodeHypothesis({ changes: [], configuration: noise })).toBeUndefined()
})

it.each(['', 'not base64!', 'AAAA', 'x'.repeat(longestLink + 1)])('reads nothing from %.20s', async (code) => {
  expect(await decodeHypothesis(code)).toBeUndefined()
})

it('does not unpack a short link that holds a huge text', async () => {
  const code = await encodeHypothesis({ changes: [], configuration: ' '.repeat(2_000_000) })
  expect(code?.length).toBeLessThan(longestLink)
  expect(await decodeHypothesis(code ?? '')).toBeUndefined()
})

it('refuses a link that holds something else', async () => {
  const code = await encodeHypothesis({ changes: 'all' } as unknown as Hypothesis)
  expect(await decodeHypothesis(code ?? '')).toBeUndefined()
})
