import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import type { ReplayReason } from '@/api/replay'
import { i18n } from '@/i18n'
import { loadDeferredMessages } from '@/i18n/deferred'
import { reasonText } from './model/reason'

/** The cases that also test the Go renderer. */
const file = join(import.meta.dirname, '../../../../scheduler/explain/testdata/comparisons.json')
const cases = JSON.parse(readFileSync(file, 'utf8')) as { reason: ReplayReason; sentence: string }[]
const text = (reason: ReplayReason) => reasonText(reason, (key, values) => i18n.global.t(key, values))

afterEach(() => {
  i18n.global.locale.value = 'en'
})

it.each(cases)('has the server’s words in English: $sentence', async ({ reason, sentence }) => {
  await loadDeferredMessages()
  expect(text(reason)).toBe(sentence)
})

it.each(cases)('has the same facts in Japanese: $sentence', async ({ reason, sentence }) => {
  i18n.global.locale.value = 'ja'
  await loadDeferredMessages()
  const said = text(reason)
  expect(said).toMatch(/[ぁ-ん]/)
  const facts = Object.entries(reason)
    .filter(([name]) => !['kind', 'why', 'cause'].includes(name))
    .flatMap(([, value]) => value)
    .map(String)
    .filter((fact) => fact && sentence.includes(fact))
  expect(facts.filter((fact) => !said.includes(fact))).toEqual([])
})
