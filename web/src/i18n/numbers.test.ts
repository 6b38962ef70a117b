import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { i18n } from './index'
import { language } from './language'
import { groupedArguments } from './numbers'

const { t } = i18n.global

describe('a number in a message', () => {
  afterEach(() => (language.value = 'en'))

  it('has thousands separators in every kind of message', () => {
    expect(t('common.nodes', 1523)).toBe('1,523 nodes')
    expect(t('common.nodes', { n: 1523 }, 1523)).toBe('1,523 nodes')
    expect(t('common.nodes', { n: '1,523' }, 1523)).toBe('1,523 nodes')
    expect(t('common.more', { n: 1523 })).toContain('1,523')
    language.value = 'ja'
    expect(i18n.global.t('common.nodes', 1523)).toContain('1,523')
  })
  it('still chooses the plural form', () => {
    expect([0, 1, 2].map((n) => t('common.nodes', n))).toEqual(['0 nodes', '1 node', '2 nodes'])
  })
  it('stays as it is if it is no count', () => {
    expect(groupedArguments(['learn.seed', { seed: 1523, n: 1523 }])).toEqual([
      'learn.seed',
      { seed: 1523, n: '1,523' },
    ])
    expect(groupedArguments(['common.share', { share: 1523.5 }])).toEqual(['common.share', { share: 1523.5 }])
  })
})

/**
 * What a template shows as it is, and what a component puts into a text, by its name a count of things
 * that there can be thousands of.
 */
const property = 'length|pods|nodes|tasks|members|least|total|score|priority'
const counted = String.raw`(?:[\w.?]*[.?](?:${property})|(?:[\w.?]*[.?])?(?:n|total|\w*[cC]ount))`
const raw = new RegExp(String.raw`\{\{ *${counted} *\}\}|\$\{${counted}\}`, 'g')
/** A count of at most a few, or text. */
const few = [
  '{{ tags.length }}',
  '{{ chips.length }}',
  '{{ mine.count }}',
  '{{ others.count }}',
  '{{ count }}',
  '{{ row.podCount }}',
  '${words.total}',
  '${props.words.total}',
  '${props.matrix.plugins.length}',
]

it('no component shows a count without thousands separators', () => {
  const source = join(import.meta.dirname, '..')
  const components = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.vue'))
  expect(components.length).toBeGreaterThan(100)
  const found = components.flatMap((file) =>
    [...readFileSync(join(source, file), 'utf8').matchAll(raw)].map(([text]) => `${file}: ${text}`)
  )
  expect(found.filter((one) => !few.some((text) => one.endsWith(text)))).toEqual([])
})
