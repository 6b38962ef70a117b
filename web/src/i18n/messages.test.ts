// All texts are in the messages, and both languages have all of them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, type SFCTemplateBlock } from 'vue/compiler-sfc'
import { createI18n } from 'vue-i18n'
import { describe, expect, it } from 'vitest'
import * as deferred from './deferredWords'
import { flatten } from './testing'
import * as words from './words'

const en = { ...words.en, ...deferred.en }
const ja = { ...words.ja, ...deferred.ja }
const english = flatten(en)
const japanese = flatten(ja)
const placeholders = (text: string) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))].sort()

const root = join(import.meta.dirname, '..')
const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (f) => /\.(vue|ts)$/.test(f) && !/\.test\.ts$/.test(f)
)
const sources = new Map(files.map((f) => [f, readFileSync(join(root, f), 'utf8')]))

describe('messages', () => {
  it('have the same keys in both languages', () => {
    expect([...japanese.keys()].sort()).toEqual([...english.keys()].sort())
  })
  it('use the same placeholders', () => {
    const different = [...english].filter(([key, text]) => {
      const other = placeholders(japanese.get(key) ?? '')
      // A plural form may omit the number.
      const own = placeholders(text)
      return text.includes('|') ? other.some((p) => !own.includes(p)) : JSON.stringify(own) !== JSON.stringify(other)
    })
    expect(different.map(([key]) => key)).toEqual([])
  })
  it('all compile', () => {
    const warn: string[] = []
    const original = console.warn
    console.warn = (...parts: unknown[]) => warn.push(parts.join(' '))
    try {
      for (const locale of ['en', 'ja'] as const) {
        const { t } = createI18n({ legacy: false, locale, messages: { en, ja }, warnHtmlMessage: false }).global
        for (const [key, text] of english) t(key, Object.fromEntries(placeholders(text).map((p) => [p, '1'])))
      }
    } finally {
      console.warn = original
    }
    expect(warn).toEqual([])
  })
  it('exist for every key that the sources name', () => {
    const missing: string[] = []
    for (const [file, text] of sources) {
      for (const [, key] of text.matchAll(/\bt\(\s*'([\w.]+)'/g))
        if (key && !english.has(key)) missing.push(`${file}: ${key}`)
      // t(`decision.${x}`): at least one key starts with the prefix.
      for (const [, prefix] of text.matchAll(/\bt\(\s*`([\w.]+\.)\$\{/g))
        if (![...english.keys()].some((k) => k.startsWith(prefix ?? ''))) missing.push(`${file}: ${prefix}*`)
    }
    expect(missing).toEqual([])
  })
  it('are all used', () => {
    const all = [...sources.values()].join('\n')
    const prefixes = [...all.matchAll(/`([\w.]+\.)\$\{/g)].map((m) => m[1] ?? '')
    // Read once: searching the sources for each key takes seconds.
    const quoted = new Set([...all.matchAll(/['"]([^'"\s]+)(?=['"])/g)].map((m) => m[1]))
    const unused = [...english.keys()].filter((key) => !quoted.has(key) && !prefixes.some((p) => key.startsWith(p)))
    expect(unused).toEqual([])
  })
})

// Terms of Kubernetes and signs that are the same in every language.
const neutral = /^(?:[^\p{L}]*|PreFilter|Filter|Score|CPU|EN|Esc|[AB]|kube-scheduler)$/u

interface TemplateNode {
  type: number
  content?: unknown
  children?: TemplateNode[]
  branches?: TemplateNode[]
  props?: { type: number; name: string; value?: { content: string } }[]
  loc: { start: { line: number } }
}
function literals(node: TemplateNode, found: string[]): void {
  // 2 is TEXT; 6 is a plain ATTRIBUTE. Bound attributes are code.
  if (node.type === 2 && typeof node.content === 'string' && !neutral.test(node.content.trim()))
    found.push(node.content.trim())
  for (const prop of node.props ?? []) {
    if (
      prop.type === 6 &&
      ['title', 'placeholder', 'aria-label', 'alt', 'label'].includes(prop.name) &&
      prop.value &&
      !neutral.test(prop.value.content)
    )
      found.push(`${prop.name}=${prop.value.content}`)
  }
  for (const child of [...(node.children ?? []), ...(node.branches ?? [])]) literals(child, found)
}

describe('templates', () => {
  it.each([...sources.keys()].filter((f) => f.endsWith('.vue')))('%s has no untranslated text', (file) => {
    const template: SFCTemplateBlock | null = parse(sources.get(file) ?? '').descriptor.template
    const found: string[] = []
    if (template?.ast) literals(template.ast as unknown as TemplateNode, found)
    expect(found).toEqual([])
  })
})
