import { describe, expect, it } from 'vitest'
import { documentationAt, meantAt, nearest, proposalsAt, reflowed } from './completion'
import { skeleton, typeOf, type Schema, type SchemaRoot, type SchemaSource } from './schema'
import { spotAt, type Lines } from './yamlSpot'

const refs: Record<string, Schema> = {
  '#/a.Container': {
    type: 'object',
    required: ['name'],
    properties: {
      name: { type: 'string', description: 'Name of the container.' },
      image: { type: 'string' },
      imagePullPolicy: { type: 'string', enum: ['Always', 'IfNotPresent', 'Never'] },
      args: { type: 'array', items: { type: 'string' } },
      ports: {
        type: 'array',
        items: {
          type: 'object',
          required: ['containerPort'],
          properties: { containerPort: { type: 'integer' }, protocol: { type: 'string', enum: ['TCP', 'UDP'] } },
        },
      },
      resources: { allOf: [{ $ref: '#/a.Resources' }], description: 'Compute resources.' },
    },
  },
  '#/a.Resources': {
    type: 'object',
    description: 'other',
    properties: { requests: { type: 'object', additionalProperties: { $ref: '#/a.Quantity' } } },
  },
  '#/a.Quantity': { type: 'string' },
}
const pod: Schema = {
  type: 'object',
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: {
      type: 'object',
      properties: { name: { type: 'string' }, labels: { type: 'object', additionalProperties: { type: 'string' } } },
    },
    spec: {
      type: 'object',
      required: ['containers'],
      properties: {
        containers: { type: 'array', items: { $ref: '#/a.Container' } },
        hostNetwork: { type: 'boolean' },
        nodeName: { type: 'string' },
        plugins: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string' },
              args: {
                choose: (beside) =>
                  beside.get('name') === 'Fit'
                    ? { type: 'object', description: 'Arguments of Fit.', properties: { strategy: { type: 'string' } } }
                    : undefined,
              },
            },
          },
        },
      },
    },
  },
}
const root: SchemaRoot = { schema: pod, resolve: (ref) => refs[ref] }
const source: SchemaSource = {
  root: async ({ kind }) => (kind === 'Pod' ? root : undefined),
  heads: async () => [
    { apiVersion: 'v1', kind: 'Pod' },
    { apiVersion: 'v1', kind: 'Node' },
    { apiVersion: 'apps/v1', kind: 'Deployment' },
  ],
  values: async (_, path) => (path.join('.') === 'spec.nodeName' ? ['node-1', 'node-2'] : []),
}

/** The lines of a text, with | at the cursor. */
function at(text: string): { lines: Lines; line: number; column: number } {
  const offset = text.indexOf('|')
  const before = text.slice(0, offset).split('\n')
  const all = (text.slice(0, offset) + text.slice(offset + 1)).split('\n')
  return {
    lines: { count: all.length, line: (n) => all[n - 1] ?? '' },
    line: before.length,
    column: before.at(-1)?.length ?? 0,
  }
}
const path = (text: string) => {
  const { lines, line, column } = at(text)
  const spot = spotAt(lines, line, column)
  return spot && `${spot.steps.map((s) => s.key).join('.')} ${spot.at} "${spot.word}"`
}
const head = 'apiVersion: v1\nkind: Pod\n'

describe('spotAt', () => {
  it.each([
    ['the top', `${head}|`, ' key ""'],
    ['a key under a key', `${head}spec:\n  ho|`, 'spec key "ho"'],
    ['an empty line under a key', `${head}spec:\n  |`, 'spec key ""'],
    ['a value', `${head}spec:\n  hostNetwork: tr|`, 'spec.hostNetwork value "tr"'],
    ['an item', `${head}spec:\n  containers:\n  - na|`, 'spec.containers.[] key "na"'],
    ['an item that stands deeper', `${head}spec:\n  containers:\n    - na|`, 'spec.containers.[] key "na"'],
    ['the second key of an item', `${head}spec:\n  containers:\n  - name: c\n    im|`, 'spec.containers.[] key "im"'],
    [
      'an empty line in an item',
      `${head}spec:\n  containers:\n  - name: c\n    |\n    image: x`,
      'spec.containers.[] key ""',
    ],
    ['the second item', `${head}spec:\n  containers:\n  - name: c\n    image: i\n  - |`, 'spec.containers.[] key ""'],
    [
      'below an item',
      `${head}spec:\n  containers:\n  - name: c\n    ports:\n    - containerPort: 1\n      pro|`,
      'spec.containers.[].ports.[] key "pro"',
    ],
    [
      'back out of a list',
      `${head}spec:\n  containers:\n  - name: c\n    ports:\n    - containerPort: 1\n  no|`,
      'spec key "no"',
    ],
    ['a scalar item', `${head}spec:\n  containers:\n  - args:\n    - a|`, 'spec.containers.[].args.[] key "a"'],
    ['the second document', `kind: Node\nspec:\n  x: 1\n---\n${head}spec:\n  |`, 'spec key ""'],
    ['a quoted key above', `${head}metadata:\n  "labels":\n    |`, 'metadata.labels key ""'],
    ['past a comment and an empty line', `${head}spec:\n\n  # a: comment\n  |`, 'spec key ""'],
    ['a lone dash above', `${head}spec:\n  containers:\n  -\n    na|`, 'spec.containers.[] key "na"'],
    [
      'a key with a colon in a value above',
      `${head}spec:\n  containers:\n  - image: a:b\n    |`,
      'spec.containers.[] key ""',
    ],
  ])('finds %s', (_, text, wanted) => {
    expect(path(text)).toBe(wanted)
  })
  it.each([
    ['a comment', `${head}# sp|`],
    ['a block of text', `${head}spec:\n  text: |-\n    ho\u007f`.replace('|-', '>-').replace('\u007f', '|')],
    ['flow style', `${head}metadata: {na|`],
    ['below a scalar', `${head}spec:\n  hostNetwork: true\n    |`],
    ['a document mark', `${head}---|`],
  ])('knows nothing in %s', (_, text) => {
    expect(path(text)).toBeUndefined()
  })
})

const labels = async (text: string) => {
  const { lines, line, column } = at(text)
  const found = await proposalsAt(source, lines, line, column)
  return found?.items.map((i) => `${i.label}${i.required ? '!' : ''}${i.type ? ` ${i.type}` : ''}`)
}
const documented = async (text: string) => {
  const { lines, line, column } = at(text)
  return documentationAt(source, lines, line, column)
}

describe('proposalsAt', () => {
  it('proposes missing keys, required ones first', async () => {
    expect(await labels(`${head}spec:\n  containers:\n  - image: x\n    |`)).toEqual([
      'name! string',
      'args []string',
      'imagePullPolicy string',
      'ports []object',
      'resources Resources',
    ])
  })
  it('considers keys below the position', async () => {
    expect(await labels(`${head}spec:\n  |\n  nodeName: x\n  plugins: []`)).toEqual([
      'containers! []Container',
      'hostNetwork boolean',
    ])
  })
  it('proposes values of enums and booleans', async () => {
    expect(await labels(`${head}spec:\n  hostNetwork: |`)).toEqual(['true', 'false'])
    expect(await labels(`${head}spec:\n  containers:\n  - imagePullPolicy: |`)).toEqual([
      'Always',
      'IfNotPresent',
      'Never',
    ])
  })
  it('proposes names from the cluster', async () => {
    expect(await labels(`${head}spec:\n  nodeName: n|`)).toEqual(['node-1', 'node-2'])
  })
  it('proposes kinds of an apiVersion, and apiVersions of a kind', async () => {
    expect(await labels('apiVersion: v1\nkind: |')).toEqual(['Pod v1', 'Node v1'])
    expect(await labels('apiVersion: |\nkind: Deployment')).toEqual(['apps/v1'])
  })
  it('proposes the first keys of a document', async () => {
    expect(await labels('ap|')).toEqual(['apiVersion! string', 'kind! string'])
  })
  it('follows a schema that depends on a neighbouring field', async () => {
    expect(await labels(`${head}spec:\n  plugins:\n  - args:\n      |\n    name: Fit`)).toEqual(['strategy string'])
    expect(await labels(`${head}spec:\n  plugins:\n  - name: Other\n    args:\n      |`)).toBeUndefined()
  })
  it('proposes nothing for free keys and unknown kinds', async () => {
    expect(await labels(`${head}metadata:\n  labels:\n    |`)).toBeUndefined()
    expect(await labels('apiVersion: v1\nkind: Unknown\nspec:\n  |')).toBeUndefined()
  })
})

describe('documentationAt', () => {
  it('uses the description closest to the field', async () => {
    expect(await documented(`${head}spec:\n  containers:\n  - name: c\n    resou|rces: {}`)).toMatchObject({
      name: 'resources',
      type: 'Resources',
      documentation: 'Compute resources.',
      required: false,
    })
    expect(await documented(`${head}spec:\n  containers:\n  - na|me: c`)).toMatchObject({
      type: 'string',
      required: true,
      from: 4,
      to: 8,
    })
  })
  it('lists the values of an enum', async () => {
    expect((await documented(`${head}spec:\n  containers:\n  - imagePull|Policy: Always`))?.values).toEqual([
      'Always',
      'IfNotPresent',
      'Never',
    ])
  })
  it('has no documentation for values', async () => {
    expect(await documented(`${head}spec:\n  nodeName: no|de`)).toBeUndefined()
  })
})

describe('typos', () => {
  it('finds the intended key', async () => {
    const { lines, line } = at(`${head}spec:\n  containers:\n  - imagee: x|`)
    expect(await meantAt(source, lines, line)).toEqual({ from: 4, to: 10, key: 'image' })
  })
  it.each([
    ['wieght', 'weight'],
    ['contianers', 'containers'],
    ['imagee', 'image'],
    ['xyz', undefined],
  ])('%s → %s', (word, wanted) => {
    expect(nearest(word, ['weight', 'containers', 'image', 'name'])).toBe(wanted)
  })
})

it('formats types', () => {
  expect(typeOf({ type: 'object', additionalProperties: { $ref: '#/a.Quantity' } }, root.resolve)).toBe(
    'map[string]Quantity'
  )
})

it('starts an object with its required fields', () => {
  expect(skeleton({ apiVersion: 'v1', kind: 'Pod' }, true, root)).toBe(
    `${head}metadata:\n  name: my-pod\n  namespace: default\nspec:\n  containers:\n  - name: ""\n`
  )
})

describe('reflowed', () => {
  it('joins wrapped lines, and puts each list item on its own line', () => {
    const text =
      'How to deal with it. - DoNotSchedule (default) tells so. - ScheduleAnyway tells\nthe scheduler,\n' +
      '  but prefers others.\n\nA constraint holds.\n - one\n - two\n'
    expect(reflowed(text)).toBe(
      'How to deal with it.\n- DoNotSchedule (default) tells so.\n' +
        '- ScheduleAnyway tells the scheduler, but prefers others.\n\nA constraint holds.\n - one\n - two'
    )
  })
})
