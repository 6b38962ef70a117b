// Public reports of pods that nobody could explain: what a person reads of each on the pages, in
// both languages.

import { expect, type Locator, type Page } from '@playwright/test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { Cases, readCases, type Built, type Case } from './cases'
import { gather } from '../src/i18n/gather'
import { test } from './simulator'

const languages = ['en', 'ja'] as const
type Language = (typeof languages)[number]

/** What a page says beside the answers of the script, and what it must not say. */
interface Look {
  at: string | ((built: Built) => Promise<string>)
  /** The data-testid of the part that is read, and in English what it says. */
  says: readonly (readonly [part: string, ...texts: string[]])[]
  not?: RegExp
}
interface Expected {
  /** Also a test of the main paths. */
  main?: true
  looks?: readonly Look[]
  /** What no page of the case may say, in English. */
  never?: RegExp
}

/** Words of the wrong answers, by case. */
const expected: Record<string, Expected> = {
  'antiaffinity-template': { never: /Evict default\/trio/ },
  'attach-limit': {
    looks: [3, 30].map((n) => ({
      at: async ({ simulator }) => {
        const { items } = await simulator.kube<{ items: { metadata: { name: string } }[] }>(
          'GET',
          '/api/v1/namespaces/default/pods'
        )
        return `/capacity?pod=default/${items[0]?.metadata.name}&like=s1&for=${n}`
      },
      says: [
        ['room-answer', '0 more'],
        ['nodes-needed', `With ${n} more nodes like s1 there is room for ${n}.`],
        ['room-stopped', 'NodeVolumeLimits'],
      ],
    })),
    never: /With [12] more node/,
  },
  'deferred-resize': { never: /Drop the request|Evict default\/db/ },
  'extender-without-node-cache': {
    looks: [
      {
        at: '/decisions/default/newcomer?node=busy&plugin=NodeResourcesFit&table=score',
        says: [
          ['cell-panel', 'cpu: 0 in use + 1 requested = 1', 'http://127.0.0.1:18889'],
          ['explanation', 'http://127.0.0.1:18889'],
        ],
      },
    ],
    never: /7 in use|8 in use/,
  },
  'first-of-its-group': {
    main: true,
    looks: [
      {
        at: '/decisions/default/peer?node=zoned&plugin=InterPodAffinity&table=filter',
        says: [
          [
            'cell-comparison',
            'default/first matches, but bare has no label topology.kubernetes.io/zone, so it does not count',
          ],
        ],
      },
    ],
    never: /no pod in the cluster matches/,
  },
  'full-equal-priority': { main: true, never: /would not help|does not help|would not make room/ },
  'kueue-flavor-affinity': {
    looks: [{ at: '/batch/queues?workload=default/w', says: [['running', 'w', '1 cpu plain', 'admitted']] }],
  },
  'kueue-minimum-of-pods': {
    looks: [
      {
        at: '/batch/queues',
        says: [
          ['running', 'job-wide', '9 cpu plain'],
          ['ledger', '9 pods of main'],
        ],
      },
    ],
  },
  'kueue-pod-group-deactivated': {
    looks: [
      {
        at: '/batch/queues?workload=default/lonely-group',
        says: [
          ['queues-sentence', 'lonely-group waits: It is deactivated.'],
          ['quotas', '0 / 2'],
        ],
      },
    ],
  },
  'kueue-preempted-group': {
    looks: [
      {
        at: '/batch/queues?workload=default/crew',
        says: [
          ['queues-sentence', 'crew waits: It waits for replacement pods.'],
          ['running', 'job-urgent', '300'],
        ],
      },
    ],
    never: /1 pod, on n1/,
  },
  'kueue-priority-label': {
    looks: [
      {
        at: '/batch/queues',
        says: [['pending', 'job-waits', '300', 'It asks for 2 cpu; f can never hold more than 1.']],
      },
    ],
  },
  'kueue-role-hash': {
    looks: [
      { at: '/resources/workloads.kueue.x-k8s.io?select=default/g', says: [['object-detail', 'name: 4b0469f7']] },
    ],
  },
  'kueue-role-without-limits': {
    looks: [
      {
        at: '/batch/queues',
        says: [['queues-sentence', 'g2 waits: It asks for 2 cpu; f can never hold more than 1.']],
      },
      { at: '/resources/workloads.kueue.x-k8s.io?select=default/g2', says: [['object-detail', 'count: 2']] },
    ],
    never: /asks for 1 cpu/,
  },
  'kueue-topology-gate': {
    looks: [
      { at: '/decisions/default/p', says: [['held', 'p', 'kueue.x-k8s.io/admission', 'kueue.x-k8s.io/topology']] },
    ],
  },
  'kueue-v1beta1-defaults': { looks: [{ at: '/batch/queues', says: [['pending', 'job-next', 'pods', 'ready']] }] },
  'kueue-v1beta1-fair-sharing-off': { looks: [{ at: '/batch/queues', says: [['running', 'job-next', 'admitted']] }] },
  'minimum-domains': { main: true, never: /has the fewest/ },
  'nominated-reserves': { never: /Lower the request|Add a node/ },
  'score-without-requests': {
    looks: [
      {
        at: '/decisions/default/probe?node=quiet&plugin=NodeResourcesFit&table=score',
        says: [
          [
            'cell-panel',
            'cpu: containers without a request count as 100m each here, 6 of them in default/free',
            'cpu: 0.6 in use',
          ],
        ],
      },
    ],
  },
  'shared-and-own-claims': {
    looks: [
      {
        at: '/capacity?pod=default/rank-2&like=g1&for=2',
        says: [
          ['room-answer', '0 more'],
          ['nodes-needed', 'With 2 more nodes like g1 there is room for 2.'],
        ],
      },
    ],
    never: /would not help|No change was found/,
  },
  'sidecar-before-init': { never: /web from/ },
  'tainted-domain': { never: /from 1 to 2\b/ },
  terminating: { main: true, never: /Lower the request|Add a node/ },
  'two-terms': { never: /(?:Drop|Only prefer).*team-z/ },
  'volcano-rolling-update': { never: /another task of the job found no node/ },
}

const cases = new Cases()
test.afterAll(() => cases.stop())

for (const one of readCases()) {
  const { main, looks = [], never } = expected[one.name] ?? {}
  test(`the pages say what is so: ${one.name}`, main ? { tag: '@main' } : {}, async ({ page }) => {
    test.setTimeout(120_000)
    const built = await cases.build(one)
    const names = namesIn(one, built)
    let read = 0
    for (const language of languages) {
      const reading = new Reading(page, built, language, names, language === 'en' ? never : undefined)
      for (const { words, answer } of built.asked) await reading.asked(words, answer)
      for (const look of looks) await reading.look(look)
      read += reading.count
    }
    expect(read, 'sentences that were read').toBeGreaterThan(0)
  })
}

/** The names of objects and containers, which stand in the texts of both languages. */
function namesIn({ files }: Case, { values }: Built): Set<string> {
  const names = new Set(values.values())
  for (const [file, text] of files) {
    if (!file.endsWith('.yaml')) continue
    JSON.stringify(
      parseAllDocuments(text).map((document) => document.toJS() as unknown),
      (key, value: unknown) => {
        if ((key === 'name' || key === 'namespace') && typeof value === 'string') names.add(value)
        return value
      }
    )
  }
  return names
}

const src = join(import.meta.dirname, '../src')
const words = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /words.en(\.deferred)?\.ts$|common\.en\.ts$/.test(file)
)
const messages = gather(await Promise.all(words.map((file) => import(join(src, file)) as Promise<object>)))
const isKey = (word: string) =>
  typeof word
    .split('.')
    .reduce((at, part) => (at as Record<string, unknown> | undefined)?.[part], messages as unknown) === 'string'

/** Reads pages in one language. */
class Reading {
  count = 0
  private at = ''

  constructor(
    private readonly page: Page,
    private readonly built: Built,
    private readonly language: Language,
    private readonly names: ReadonlySet<string>,
    private readonly never: RegExp | undefined
  ) {}

  /** Looks at the page of the decision, or at Make it fit, for what the script asked and compared. */
  async asked([command, of = '', ...flags]: readonly string[], answer: string): Promise<void> {
    // Other questions are about pods that are not in the cluster, or have a look of their own.
    if (command !== 'whatif' || of.startsWith('-')) return
    const pod = of.includes('/') ? of : `default/${of}`
    if (flags.includes('--fit')) {
      await this.open(`/decisions/${pod}?side=fit`)
      const suggestions = [...answer.matchAll(/^(\d+) +\S+ +\S+ +\d+ +(.+)$/gm)]
      for (const [, rank, text = ''] of suggestions) {
        // The page says in a line of its own where a change goes, and who carries it out.
        const [first = ''] = text.split(/\. |: /)
        await this.says(
          this.page.getByTestId('fit-panel').locator(`[data-rank="${rank}"]`),
          first.split(' ')[0] ?? '',
          this.factsOf(text.split('. ')[0] ?? '')
        )
      }
      await expect(this.page.getByTestId('fit-panel').locator('[data-rank]')).toHaveCount(suggestions.length)
      return
    }
    await this.open(`/decisions/${pod}`)
    const [, ...told] = (answer.split('\n\n')[0] ?? '').split('\n')
    for (const line of told) {
      if (/ would go to /.test(line)) continue // It is there by now.
      await this.says(this.page.getByTestId(line.startsWith('No candidates') ? 'preemption' : 'explanation'), line)
    }
    for (const [, plugin, nodes = '', lines = ''] of answer.matchAll(/^(\w+) on (.+?): .*\n((?: {2}.+\n?)+)/gm)) {
      const node = nodes.split(', ')[0]
      await this.page.getByTestId('filter-matrix').locator(`[data-node="${node}"] [data-plugin="${plugin}"]`).click()
      await expect(this.page).toHaveURL(new RegExp(`node=${node}.*plugin=${plugin}`))
      for (const line of lines.trim().split('\n')) await this.says(this.page.getByTestId('cell-panel'), line.trim())
    }
  }

  async look({ at, says }: Look): Promise<void> {
    await this.open(typeof at === 'string' ? at : await at(this.built))
    for (const [part, ...texts] of says) {
      for (const text of texts) await this.says(this.page.getByTestId(part), text)
    }
  }

  private async open(path: string): Promise<void> {
    if (this.at === path) return
    await this.page.addInitScript((l) => localStorage.setItem('language', l), this.language)
    await this.page.goto(this.built.simulator.url + path)
    this.at = path
  }

  /** The part says this in English, and names the same things in Japanese, where nothing is left untold. */
  private async says(part: Locator, text: string, facts = this.factsOf(text)): Promise<void> {
    this.count++
    if (this.language === 'en') await expect(part.first()).toContainText(pattern(text))
    for (const fact of facts) await expect(part.first()).toContainText(fact)
    const said = await this.page.getByRole('main').innerText()
    if (this.never) expect(said).not.toMatch(this.never)
    expect(said.match(/\b[a-z][A-Za-z]*(?:\.[a-z]\w*)+/g)?.filter(isKey) ?? [], 'keys of texts').toEqual([])
    if (this.language === 'ja')
      expect((await wordsOf(part.first())).match(/(?:\b[a-z]{2,} ){4,}/i)?.[0] ?? '', 'English sentence').toBe('')
  }

  /** Numbers, names of objects and of the API. */
  private factsOf(text: string): string[] {
    const words = text.match(/[\w./=,:-]*\w/g) ?? []
    return words.filter((word) => /\d|[a-z][A-Z]|[/=]/.test(word) || this.names.has(word))
  }
}

/** The page's own words: neither commands, nor what plugins answered, nor YAML. */
const wordsOf = (part: Locator) =>
  part.evaluate((element) => {
    const copy = element.cloneNode(true) as Element
    for (const raw of copy.querySelectorAll('code, .quote, .cm-editor, .mono')) raw.remove()
    return copy.textContent ?? ''
  })

/** Names that the API server ends, and times, are other ones in each run. */
function pattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/…/g, '\\S+'))
}
