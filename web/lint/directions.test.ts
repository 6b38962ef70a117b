// @vitest-environment node

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ESLint } from 'eslint'
import { describe, expect, it } from 'vitest'
import { cycleIn, features, layers, refusal } from './directions.js'

const web = join(import.meta.dirname, '..')
const foldersOf = (path: string) =>
  readdirSync(join(web, 'src', path), { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort()

describe('the tables', () => {
  it('name every layer and every feature', () => {
    expect(Object.keys(layers).sort()).toEqual(foldersOf('.'))
    expect(Object.keys(features).sort()).toEqual(foldersOf('features'))
  })
  it('have no cycles', () => {
    expect(cycleIn(features)).toBeUndefined()
    expect(
      cycleIn(
        Object.fromEntries(
          Object.entries(layers).map(([name, used]) => [name, used.map((path: string) => path.split('/')[0] ?? '')])
        )
      )
    ).toBeUndefined()
  })
  it('would show a cycle', () => {
    expect(cycleIn({ a: ['b'], b: ['c'], c: ['b'] })).toEqual(['b', 'c', 'b'])
  })
})

describe('an import', () => {
  it.each([
    ['api/watch.ts', '@/kubernetes/pods'],
    ['api/watch.ts', 'vue'],
    ['kubernetes/pods.ts', '@/api/http'],
    ['kubernetes/pods.ts', '@vueuse/core'],
    ['live/status.ts', '@/ui/notices'],
    ['live/status.ts', '../features/create/store/create'],
    ['i18n/index.ts', '@/live/status'],
    ['live/status.ts', '@/i18n'],
    ['ui/DataTable.vue', '@/kubernetes/pods'],
    ['ui/DataTable.vue', '@/api/types'],
    ['ui/DataTable.vue', '@/features/decision/OutcomeMark.vue'],
    ['features/yaml/YamlEditor.vue', '@/features/create/store/create'],
    ['features/decision/DecisionPage.vue', '../cluster/ClusterPage.vue'],
    ['features/decision/DecisionPage.vue', '@/router'],
    ['features/decision/model/cycle.ts', 'vue'],
    ['features/decision/model/cycle.ts', '@codemirror/state'],
    ['features/decision/model/cycle.ts', '../store/cycles'],
    ['features/decision/model/cycle.ts', '../OutcomeMark.vue'],
    ['features/decision/model/cycle.ts', '@/live/status'],
    ['features/decision/model/cycle.ts', '@/features/yaml/store/schema'],
    ['features/new/model/thing.ts', '@/api/types'],
    ['helpers/thing.ts', '@/api/types'],
  ])('from %s of %s is refused', (from, specifier) => {
    expect(refusal(from, specifier)).toEqual(expect.any(String))
  })
  it.each([
    ['api/watch.ts', './types'],
    ['kubernetes/pods.ts', '@/api/types'],
    ['ui/ErrorNotice.vue', '@/api/http'],
    ['features/decision/DecisionPage.vue', '@/features/create/store/create'],
    ['features/decision/model/cycle.ts', './matrix'],
    ['features/cluster/model/arrange.ts', '@/features/decision/model/cycle'],
    ['features/yaml/YamlForm.test.ts', '@/i18n'],
    ['features/yaml/model/documents.ts', 'yaml'],
    ['App.vue', './features/shell/HelpDialog.vue'],
  ])('from %s of %s is allowed', (from, specifier) => {
    expect(refusal(from, specifier)).toBeUndefined()
  })
})

// Loading ESLint with TypeScript takes seconds on a busy machine.
describe('ESLint', { timeout: 60_000 }, () => {
  it('reports every way of importing', async () => {
    const eslint = new ESLint({ cwd: web })
    const wrong = '@/features/shell/HelpDialog.vue'
    const text = [
      `import '${wrong}'`,
      `export * from '${wrong}'`,
      `export { x } from '${wrong}'`,
      `void import('${wrong}')`,
      `export type A = import('${wrong}').A`,
      `export const u = new URL('../features/shell/HelpDialog.vue', import.meta.url)`,
    ].join('\n')
    const [result] = await eslint.lintText(`${text}\n`, { filePath: 'src/ui/made.ts' })
    expect(result?.messages.map((m) => `${m.ruleId} ${m.line}`).filter((m) => m.startsWith('directions'))).toEqual(
      [1, 2, 3, 4, 5, 6].map((line) => `directions/imports ${line}`)
    )
  })
  it('reports parts that are not preloaded', async () => {
    const eslint = new ESLint({ cwd: web })
    const text =
      `import { lazily } from './lazily'\n` +
      `export const a = lazily(() => import('./notices'))\nexport const b = () => import('./notices')\n`
    const [result] = await eslint.lintText(text, { filePath: 'src/ui/made.ts' })
    expect(result?.messages.map((m) => `${m.ruleId} ${m.line}`)).toEqual(['no-restricted-syntax 3'])
  })
  it('reads the scripts of components', async () => {
    const eslint = new ESLint({ cwd: web })
    const [result] = await eslint.lintText(
      `<script setup lang="ts">\nimport { status } from '@/live/status'\nvoid status\n</script>\n`,
      { filePath: 'src/ui/MadeUp.vue' }
    )
    expect(result?.messages.map((m) => `${m.ruleId} ${m.line}`)).toContain('directions/imports 2')
  })
})
