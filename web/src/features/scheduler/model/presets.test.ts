import { parseDocument } from 'yaml'
import { describe, expect, it } from 'vitest'
import { argumentSchemas, configurationSchema, configurationSource, pointFields } from './configurationSchema'
import { presetNames, presets } from './presets'
import { proposalsAt } from '@/features/yaml/model/completion'
import { itemStep, shapeOf, type Schema } from '@/features/yaml/model/schema'
import type { Lines } from '@/features/yaml/model/yamlSpot'

/** The paths of everything in value that schema does not know; `beside` holds the neighbouring scalars. */
function unknown(
  value: unknown,
  schema: Schema | undefined,
  path: string,
  beside = new Map<string, string>()
): string[] {
  const known = schema?.choose ? schema.choose(beside) : schema
  if (!known) return [path]
  if (Array.isArray(value)) return value.flatMap((item, i) => unknown(item, known.items, `${path}[${i}]`))
  if (typeof value !== 'object' || value === null)
    return known.enum && !known.enum.includes(value) ? [`${path}=${String(value)}`] : []
  const scalars = new Map(Object.entries(value).map(([k, v]) => [k, String(v)]))
  return Object.entries(value).flatMap(([key, v]) => unknown(v, known.properties?.[key], `${path}.${key}`, scalars))
}

describe('presets', () => {
  it.each(presetNames)('%s matches the schema, and its comment says what it does', (name) => {
    const document = parseDocument(presets[name])
    expect(document.errors).toEqual([])
    expect(unknown(document.toJS(), configurationSchema, '')).toEqual([])
    expect(presets[name]).toMatch(/^# \w/)
  })
})

describe('the schema', () => {
  it('describes every field', () => {
    const bare: string[] = []
    const walk = (schema: Schema, path: string): void => {
      if (!schema.description && path) bare.push(path)
      for (const [key, child] of Object.entries(schema.properties ?? {})) walk(child, `${path}.${key}`)
      if (schema.items && shapeOf(schema.items) === 'map') walk(schema.items, `${path}${itemStep}`)
    }
    walk(configurationSchema, '')
    for (const [name, schema] of Object.entries(argumentSchemas)) walk(schema, name)
    expect(bare).toEqual([])
    expect(Object.keys(pointFields)).toHaveLength(16)
  })

  const source = configurationSource(() => ['NodeResourcesFit', 'ImageLocality'])
  /** The proposals at the | in text. */
  async function proposed(text: string): Promise<string[]> {
    const rows = text.split('\n')
    const line = rows.findIndex((row) => row.includes('|')) + 1
    const column = (rows[line - 1] ?? '').indexOf('|')
    const plain = rows.map((row) => row.replace('|', ''))
    const lines: Lines = { count: plain.length, line: (n) => plain[n - 1] ?? '' }
    return ((await proposalsAt(source, lines, line, column))?.items ?? []).map((p) => p.label)
  }
  const head = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n'

  it('proposes the arguments of the plugin beside them', async () => {
    expect(
      await proposed(
        `${head}profiles:\n- pluginConfig:\n  - name: NodeResourcesFit\n    args:\n      scoringStrategy:\n        type: |\n`
      )
    ).toEqual(['LeastAllocated', 'MostAllocated', 'RequestedToCapacityRatio'])
    expect(await proposed(`${head}profiles:\n- pluginConfig:\n  - name: CELScore\n    args:\n      |\n`)).toEqual([
      'expression',
      'normalize',
    ])
  })
  it('proposes plugins as names', async () => {
    expect(await proposed(`${head}profiles:\n- plugins:\n    score:\n      enabled:\n      - name: |\n`)).toContain(
      'ImageLocality'
    )
    expect(await proposed(`${head}profiles:\n- plugins:\n    score:\n      disabled:\n      - name: |\n`)).toContain(
      '"*"'
    )
    // A plugin without arguments is not proposed.
    expect(await proposed(`${head}profiles:\n- pluginConfig:\n  - name: |\n`)).not.toContain('ImageLocality')
  })
})
