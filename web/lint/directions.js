// The allowed directions of imports in src: which layer may import which, and which feature
// may import which other feature. eslint.config.js applies the rule to every file in src.
//
// To let a feature import another one, add it to the table. If that closes a cycle, move
// the code that both share to a layer below them.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** Each layer, and the folders or modules of other layers that it may use. */
export const layers = {
  /** HTTP and WebSocket clients and the types that they speak. */
  api: [],
  /** The meaning of Kubernetes objects: kinds, quantities, pods, nodes and their requests. */
  kubernetes: ['api/types'],
  /** Watched lists, and the state of the connection and of the simulator. */
  live: ['api', 'kubernetes'],
  /** It gathers the words of features by their path, features/<name>/words, and imports none of them. */
  i18n: ['kubernetes/quantity'],
  /** Components that know nothing about scheduling. */
  ui: ['api/http', 'api/message', 'i18n'],
  features: ['api', 'kubernetes', 'live', 'i18n', 'ui'],
}

/** Each feature, and the features that it may use. */
export const features = {
  act: ['create', 'yaml'],
  autoscaling: ['act', 'batch', 'create', 'fit', 'whatif', 'yaml'],
  drain: ['batch', 'branch', 'submit', 'whatif', 'yaml'],
  /** What the boards of batch scheduling share. */
  batch: ['act', 'scheduler'],
  branch: [],
  capacity: ['act', 'create', 'fit', 'whatif', 'yaml'],
  cluster: ['act', 'create', 'decision', 'transfer', 'whatif'],
  create: ['whatif', 'yaml'],
  decision: ['act', 'create', 'fit', 'resources', 'whatif', 'yaml'],
  events: ['act', 'decision'],
  fit: ['act', 'create', 'whatif', 'yaml'],
  gang: ['act', 'batch', 'decision', 'fit', 'whatif'],
  learn: ['branch', 'decision'],
  numa: ['act', 'batch', 'decision'],
  /** Where imported pods land, compared with where they were. */
  placement: ['replay', 'timeline', 'transfer'],
  present: ['decision'],
  questions: ['act', 'cluster', 'create', 'decision', 'whatif'],
  queues: ['act', 'batch', 'branch', 'events'],
  submit: ['batch', 'create', 'queues', 'yaml'],
  quota: ['act', 'batch', 'decision'],
  replay: ['act'],
  report: ['act', 'decision', 'learn', 'runs'],
  resources: ['act', 'create', 'yaml'],
  runs: ['yaml'],
  scheduler: ['branch', 'create', 'decision', 'whatif', 'yaml'],
  sessions: ['batch', 'branch', 'yaml'],
  shell: ['act', 'cluster', 'create', 'decision', 'learn', 'replay', 'transfer'],
  timeline: ['act', 'branch', 'cluster', 'decision'],
  transfer: ['branch', 'replay', 'report', 'yaml'],
  upgrade: ['batch'],
  /** What every question about a hypothesis needs. */
  whatif: ['yaml'],
  yaml: [],
}

/** Packages that api, kubernetes and the features' models must not import. */
const frameworks = ['vue', 'vue-router', 'vue-i18n', '@vue/', '@vueuse/', '@tanstack/', '@codemirror/', '@lezer/']
const withoutFramework = (/** @type {Place} */ from) =>
  from.layer === 'api' || from.layer === 'kubernetes' || from.part === 'model'

/** Folders and modules that a model may import besides other models. */
const belowModels = ['api', 'kubernetes']

/**
 * @typedef {object} Place
 * @property {string} path below src, such as features/create/model/batch
 * @property {string} layer a key of layers; '' for main, App and router
 * @property {string} feature a key of features; '' in other layers
 * @property {string} part the folder in the feature, such as model; '' for its pages and components
 */

/**
 * @param {string} path below src
 * @returns {Place}
 */
function placeOf(path) {
  const [layer = '', feature = '', part = '', ...rest] = path.split('/')
  // Modules beside the layers: App, main, router. A layer's own path is its index.
  if (!feature && !Object.hasOwn(layers, layer)) return { path, layer: '', feature: '', part: '' }
  if (layer !== 'features') return { path, layer, feature: '', part: '' }
  return { path, layer, feature, part: rest.length ? part : '' }
}

const within = (/** @type {string} */ path, /** @type {readonly string[]} */ folders) =>
  folders.some((folder) => path === folder || path.startsWith(`${folder}/`))

/**
 * Why one module must not import another; undefined when it may.
 *
 * @param {string} from the importing module's path below src
 * @param {string} specifier as the import writes it
 * @returns {string | undefined}
 */
export function refusal(from, specifier) {
  const importer = placeOf(from)
  const path = specifier.startsWith('@/')
    ? specifier.slice(2)
    : specifier.startsWith('.')
      ? posix.join(posix.dirname(from), specifier)
      : undefined
  if (path === undefined) {
    const framework = frameworks.some(
      (name) => specifier === name || (name.endsWith('/') && specifier.startsWith(name))
    )
    return framework && withoutFramework(importer)
      ? `${importer.part || importer.layer} imports no framework.`
      : undefined
  }
  if (!importer.layer) return undefined
  const imported = placeOf(path.replace(/\.(ts|vue)$/, ''))
  if (!imported.layer) return `${importer.layer} must not import ${imported.path}, which puts everything together.`
  if (!Object.hasOwn(layers, importer.layer)) return `${importer.layer} is not a layer of lint/directions.js.`
  if (importer.feature && !Object.hasOwn(features, importer.feature))
    return `${importer.feature} is not a feature of lint/directions.js.`
  if (importer.part === 'model' && imported.part !== 'model' && !within(imported.path, belowModels))
    return `A model imports no store, no component and nothing live, so not ${imported.path}.`
  if (imported.layer !== importer.layer)
    return within(imported.path, layers[importer.layer])
      ? undefined
      : `${importer.layer} must not import ${imported.path}: see lint/directions.js.`
  if (imported.feature === importer.feature || features[importer.feature].includes(imported.feature)) return undefined
  return `The feature ${importer.feature} must not use the feature ${imported.feature}: see the table in lint/directions.js.`
}

/**
 * A cycle in a table; undefined when there is none.
 *
 * @param {Record<string, readonly string[]>} table
 * @returns {string[] | undefined}
 */
export function cycleIn(table) {
  const done = new Set()
  /** @type {(name: string, way: string[]) => string[] | undefined} */
  const visit = (name, way) => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name]
    if (done.has(name)) return undefined
    for (const next of table[name] ?? []) {
      const found = visit(next, [...way, name])
      if (found) return found
    }
    done.add(name)
    return undefined
  }
  for (const name of Object.keys(table)) {
    const found = visit(name, [])
    if (found) return found
  }
  return undefined
}

/** @type {import('eslint').Rule.RuleModule} */
const directions = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const file = posix.relative(`${context.cwd}/src`, context.filename)
    const check = (/** @type {any} */ source) => {
      const message = typeof source?.value === 'string' && refusal(file, source.value)
      if (message) context.report({ node: source, message })
    }
    return {
      ImportDeclaration: (node) => check(node.source),
      ExportNamedDeclaration: (node) => check(node.source),
      ExportAllDeclaration: (node) => check(node.source),
      ImportExpression: (node) => check(node.source),
      TSImportType: (/** @type {any} */ node) => check(node.source ?? node.argument?.literal),
      // Workers: new URL('./parse.worker.ts', import.meta.url)
      'NewExpression[callee.name="URL"]': (/** @type {any} */ node) =>
        String(node.arguments[0]?.value).startsWith('.') && check(node.arguments[0]),
    }
  },
}

// ESLint's cache forgets what it found with another version.
const version = createHash('sha256')
  .update(readFileSync(new URL(import.meta.url)))
  .digest('hex')

export default { meta: { name: 'directions', version }, rules: { imports: directions } }
