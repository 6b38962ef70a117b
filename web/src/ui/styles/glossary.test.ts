import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '../..')
const short = 3
const several = 4
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
const read = (file: string) => readFileSync(join(src, file), 'utf8')

/** The short classes in the selectors of a style sheet. */
function shortClasses(css: string): Set<string> {
  const selectors = css.replace(/\/\*.*?\*\/|url\([^)]*\)/gs, '').match(/[^{};]+(?=\{)/g) ?? []
  return new Set(
    selectors
      .flatMap((selector) => selector.match(/(?<=\.)[a-z][\w-]*/gi) ?? [])
      .filter((name) => name.length <= short && !name.startsWith('i-'))
  )
}

it('explains each short class that is shared, or that several components have', () => {
  const explained = new Set(
    [...read('ui/styles/README.md').matchAll(/`([^`]+)`/g)].flatMap(([, names]) => names?.split(' ') ?? [])
  )
  const shared = files.filter((file) => /^ui.styles.*css$/.test(file)).flatMap((file) => [...shortClasses(read(file))])
  const components = new Map<string, number>()
  for (const file of files.filter((name) => name.endsWith('.vue'))) {
    const styles = [...read(file).matchAll(/<style[^>]*>(.*?)<\/style>/gs)].map((match) => match[1]).join('')
    for (const name of shortClasses(styles)) components.set(name, (components.get(name) ?? 0) + 1)
  }
  const own = [...components].filter(([, count]) => count >= several).map(([name]) => name)
  expect([...shared, ...own].filter((name) => !explained.has(name))).toEqual([])
})
