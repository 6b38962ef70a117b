// The public reports that simulator/testing/systemtest/testdata/cases replays. Go runs these
// scripts for the command line and for HTTP.
// Here they build the same clusters, and name the questions whose answers the pages must give, too.

import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { expect, Simulator } from './simulator'

const directory = resolve('../simulator/testing/systemtest/testdata/cases')

export interface Case {
  name: string
  lines: string[][]
  files: Map<string, string>
}

/** A question of the script, and the answer that was reviewed. */
export interface Asked {
  /** Words such as whatif second --fit. */
  words: string[]
  answer: string
}

/** What a case is once it is built. */
export interface Built {
  simulator: Simulator
  asked: Asked[]
  /** What the script has named, such as the pod that waits. */
  values: ReadonlyMap<string, string>
}

/** All cases. Those with the same flags of their simulator are together. */
export function readCases(): Case[] {
  const flags = ({ lines }: Case) => lines[0]?.join(' ') ?? ''
  const names = readdirSync(directory).map((file) => file.replace(/\.txtar$/, ''))
  return names.map(readCase).sort((a, b) => flags(a).localeCompare(flags(b)) || a.name.localeCompare(b.name))
}

/** Reads a script in the format of testscript. */
function readCase(name: string): Case {
  const [script = '', ...parts] = readFileSync(join(directory, `${name}.txtar`), 'utf8').split(/^-- (.+) --\n/m)
  const files = new Map<string, string>()
  for (let i = 0; i < parts.length; i += 2) files.set(parts[i] ?? '', parts[i + 1] ?? '')
  const lines = script.split('\n').filter((line) => line && !line.startsWith('#'))
  return {
    name,
    files,
    lines: lines.map((line) => [...line.matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole)),
  }
}

/**
 * Simulators of cases. Cases with the same flags share one, which is reset between them; one runs
 * at a time.
 */
export class Cases {
  private running: Simulator | undefined
  private flags: string | undefined

  async simulate({ files }: Case, flags: readonly string[]): Promise<Simulator> {
    if (this.running && this.flags === flags.join(' ')) {
      await this.running.reset()
      return this.running
    }
    await this.stop()
    const at = await mkdtemp(join(tmpdir(), 'cases-'))
    for (const [name, text] of files) await writeFile(join(at, name), text)
    this.running = await Simulator.start(flags.map((flag) => (files.has(flag) ? join(at, flag) : flag)))
    this.flags = flags.join(' ')
    await rm(at, { recursive: true })
    return this.running
  }
  async stop(): Promise<void> {
    await this.running?.stop()
    this.running = undefined
  }

  /** Runs the script up to its questions. A command that it does not know fails. */
  async build(of: Case): Promise<Built> {
    const values = new Map<string, string>()
    const asked: Asked[] = []
    const [[first, ...flags] = [], ...lines] = of.lines
    if (first !== 'simulate') throw new Error(`${of.name}: want a simulator first, not ${first}`)
    const simulator = await this.simulate(of, flags)
    const run = new Commands(simulator, (file) => named(of.files.get(file) ?? '', values))
    let last: string[] = []
    for (const line of lines) {
      const [command = '', ...words] = line.map((word) => named(word, values))
      const [value = '', ...more] = words
      switch (command) {
        case 'kubectl':
          if (value !== 'get') await run.kubectl(words)
          break
        case 'http':
          if (value === 'PUT') await run.http(words)
          break
        case 'until':
          await expect(async () => expect(await run.print(more), line.join(' ')).toBe(value)).toPass({
            timeout: 60_000,
            intervals: [100, 250],
          })
          break
        case 'call':
          await expect(async () => expect(values.set(value, await run.print(more)).get(value)).not.toBe('')).toPass()
          break
        case 'cmp':
          if (last[0] === 'simulator')
            asked.push({ words: last.slice(1), answer: said(of.files.get(words[1] ?? '') ?? '', values) })
          break
        // The answers to these are not the pages'.
        case 'simulator':
        case 'stdout':
        case '!':
          break
        default:
          throw new Error(`${of.name}: unknown command ${command}`)
      }
      last = [command, ...words]
    }
    return { simulator, asked, values }
  }
}

/** Answers have the name in the place of the value. */
const said = (answer: string, values: ReadonlyMap<string, string>) =>
  [...values].reduce((text, [name, value]) => text.replaceAll(name, value), answer)
const named = (text: string, values: ReadonlyMap<string, string>) =>
  text.replace(/\$([A-Z]+)/g, (whole, name: string) => values.get(name) ?? whole)

interface Resource {
  /** Such as /apis/apps/v1. */
  root: string
  kind: string
  /** Its plural and its singular. */
  names: readonly string[]
  namespaced: boolean
}
interface Discovery {
  items: {
    metadata: { name?: string }
    versions: {
      version: string
      resources: { resource: string; responseKind: { kind: string }; scope: string; singularResource: string }[]
    }[]
  }[]
}

/** The commands of a script, as requests. */
class Commands {
  private served: readonly Resource[] | undefined

  constructor(
    private readonly simulator: Simulator,
    private readonly file: (name: string) => string
  ) {}

  /** What kubectl get or http prints. */
  async print([command = '', ...words]: readonly string[]): Promise<string> {
    return command === 'http' ? this.http(words) : this.kubectl(words)
  }

  /** METHOD PATH [FILE] [JSONPATH] */
  async http([method = '', path = '', ...more]: readonly string[]): Promise<string> {
    const template = more.findLast((word) => word.startsWith('{'))
    const body = more[0] === template ? undefined : this.file(more[0] ?? '')
    const answer = await this.simulator.send(method, path, body)
    return template ? printed(await answer.json(), template) : ''
  }

  async kubectl([verb = '', ...words]: readonly string[]): Promise<string> {
    const flag = (name: string) => {
      const at = words.findIndex((word) => word === name || word.startsWith(`${name}=`))
      return at < 0 ? undefined : words[at]?.startsWith(`${name}=`) ? words[at].slice(name.length + 1) : words[at + 1]
    }
    const namespace = flag('-n') ?? 'default'
    const [type = '', name = ''] = words
    switch (verb) {
      case 'create': {
        for (const document of parseAllDocuments(this.file(flag('-f') ?? ''))) {
          const object = document.toJS() as { apiVersion: string; kind: string; metadata: { namespace?: string } }
          await this.send(
            'POST',
            await this.pathOf(
              ({ kind, root }) => kind === object.kind && root.endsWith(`/${object.apiVersion}`),
              object.metadata.namespace ?? namespace
            ),
            object
          )
        }
        return ''
      }
      case 'get': {
        const query = new URLSearchParams()
        for (const [selector, value] of [
          ['labelSelector', flag('-l')],
          ['fieldSelector', flag('--field-selector')],
        ] as const)
          if (value !== undefined) query.set(selector, value)
        const path = await this.pathOf(({ names }) => names.includes(type), namespace)
        const answer = await this.send('GET', `${path}${name.startsWith('-') ? '' : `/${name}`}?${query}`)
        const list = (await answer.json()) as { items?: unknown[] }
        const order = flag('--sort-by')
        if (order) list.items?.sort((a, b) => printed(a, `{${order}}`).localeCompare(printed(b, `{${order}}`)))
        return printed(list, flag('-o')?.replace('jsonpath=', '') ?? '')
      }
      case 'delete':
        await this.send('DELETE', `${await this.pathOf(({ names }) => names.includes(type), namespace)}/${name}`)
        return ''
      case 'patch':
        await this.change(type, name, JSON.parse(flag('-p') ?? '') as object, flag('--subresource'))
        return ''
      case 'label':
        await this.change(type, name, {
          metadata: { labels: Object.fromEntries([(words[2] ?? '').split('=')]) as object },
        })
        return ''
      case 'set': {
        // set image deployment/NAME CONTAINER=IMAGE
        const [of = '', workload = ''] = name.split('/')
        const [container, image] = (words[2] ?? '').split('=')
        await this.change(of, workload, { spec: { template: { spec: { containers: [{ name: container, image }] } } } })
        return ''
      }
    }
    throw new Error(`unknown command kubectl ${verb}`)
  }

  private async change(type: string, name: string, patch: object, subresource?: string): Promise<void> {
    const path = await this.pathOf(({ names }) => names.includes(type), 'default')
    await this.send('PATCH', `${path}/${name}${subresource ? `/${subresource}` : ''}`, patch)
  }

  private async send(method: string, path: string, body?: object): Promise<Response> {
    const headers = {
      'Content-Type': method === 'PATCH' ? 'application/strategic-merge-patch+json' : 'application/json',
    }
    const answer = await fetch(`${this.simulator.url}/kubernetes${path}`, {
      method,
      headers,
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }

  private async pathOf(is: (one: Resource) => boolean, namespace: string): Promise<string> {
    const found = this.served?.find(is) ?? (this.served = await this.discover()).find(is)
    if (!found) throw new Error('the API server does not serve this resource')
    return `${found.root}${found.namespaced ? `/namespaces/${namespace}` : ''}/${found.names[0]}`
  }

  private async discover(): Promise<Resource[]> {
    const all: Resource[] = []
    for (const root of ['/api', '/apis']) {
      const answer = await fetch(`${this.simulator.url}/kubernetes${root}`, {
        headers: { Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' },
      })
      for (const { metadata, versions } of ((await answer.json()) as Discovery).items) {
        for (const { version, resources } of versions) {
          for (const { resource, responseKind, scope, singularResource } of resources) {
            all.push({
              root: [root, metadata.name, version].filter(Boolean).join('/'),
              kind: responseKind.kind,
              names: [resource, singularResource],
              namespaced: scope === 'Namespaced',
            })
          }
        }
      }
    }
    return all
  }
}

/**
 * Fills a template such as {.items[0].spec.nodeName} as kubectl's jsonpath does, as far as the
 * scripts use it.
 */
function printed(of: unknown, template: string): string {
  return template.replace(/\{([^}]*)\}/g, (_, path: string) => {
    let found: unknown[] = [of]
    for (const [, field, index, key, value] of path.matchAll(/\.(\w+)|\[(\d+|\*)\]|\[\?\(@\.(\w+)=="(.*?)"\)\]/g)) {
      found = found.flatMap((at) => {
        if (field) return [(at as Record<string, unknown> | undefined)?.[field]]
        const all = Array.isArray(at) ? (at as Record<string, unknown>[]) : []
        return index === undefined
          ? all.filter((one) => key && one[key] === value)
          : index === '*'
            ? all
            : [all[Number(index)]]
      })
    }
    return found.filter((one) => one !== undefined).join(' ')
  })
}
