// Takes a suggestion over into the text: the pod's fields that it changes, and nothing else
// of the text.

import { isRecord } from '@/api/http'
import type { KubeObject, Suggestion } from '@/api/types'
import { formOf, withAdded, withoutField, withValue, type FormDocument, type Path } from '@/features/yaml/model/form'
import type { Entry } from '@/features/yaml/model/documents'
import { same } from '@/kubernetes/merge'
import { fieldsBetween } from '@/kubernetes/patch'
import { parsePath } from '@/kubernetes/fieldPaths'
import { parseQuantity } from '@/kubernetes/quantity'
import { cloneOf } from './clone'

/** What suggestions change of a pod, besides the requests of its containers. */
const fields = ['tolerations', 'nodeSelector', 'affinity', 'topologySpreadConstraints', 'schedulingGates']

/** The text with a suggestion for one of its pods; undefined if the text cannot take it over. */
export function adopt(
  text: string,
  { kind, name }: Pick<Entry, 'kind' | 'name'>,
  suggestion: Suggestion
): string | undefined {
  const applied = suggestion.changes.findLast(({ apply }) => apply?.kind === 'Pod')?.apply as unknown as
    KubeObject | undefined
  const document = formOf(text)?.find((one) => one.kind === 'Pod' && kind === 'Pod' && one.name === name)
  if (suggestion.kind !== 'pod' || !applied || !document) return undefined
  const written = specOf(document.object)
  const wanted = specOf(cloneOf(applied, name))
  let out = text
  for (const change of fieldsBetween(comparable(written), comparable(wanted, written))) {
    const next = edited(out, document.index, ['spec', ...parsePath(change.path)], change.from, change.to)
    if (next === out) return undefined
    out = next
  }
  return out === text ? undefined : out
}

const specOf = (object: unknown) => (isRecord(object) && isRecord(object.spec) ? object.spec : {})

interface Container {
  name: string
  resources?: { requests?: Record<string, string | number> }
}

/**
 * The fields of a spec that a suggestion may change; amounts that equal those of `like` are written
 * as there.
 */
function comparable(spec: Record<string, unknown>, like?: Record<string, unknown>): Record<string, unknown> {
  const containers = (of: Record<string, unknown>, field: string) =>
    Array.isArray(of[field]) ? (of[field] as Container[]) : []
  const requests = (field: 'containers' | 'initContainers') => {
    const others = like && containers(like, field)
    return containers(spec, field).map(({ resources }, i) => {
      const before = others?.[i]?.resources?.requests ?? {}
      const all = Object.entries(resources?.requests ?? {}).map(([name, amount]) => [
        name,
        before[name] !== undefined && parseQuantity(before[name]) === parseQuantity(amount) ? before[name] : amount,
      ])
      return all.length ? { resources: { requests: Object.fromEntries(all) as object } } : {}
    })
  }
  const own = Object.fromEntries(
    fields.flatMap((field) =>
      spec[field] === undefined || same(spec[field], []) || same(spec[field], {}) ? [] : [[field, spec[field]]]
    )
  )
  return {
    ...own,
    containers: requests('containers'),
    ...(containers(spec, 'initContainers').length ? { initContainers: requests('initContainers') } : {}),
  }
}

function edited(text: string, document: number, path: Path, from: unknown, to: unknown): string {
  const field = fieldAt(formOf(text), document, path)
  if (field?.kind === 'scalar' && (typeof to === 'string' || typeof to === 'number'))
    return withValue(text, field, String(to), typeof to === 'number' ? 'number' : 'string')
  const without = from === undefined ? text : withoutField(text, document, path)
  return to === undefined ? without : withAdded(without, document, path.slice(0, -1), String(path.at(-1)), to)
}

function fieldAt(documents: FormDocument[] | undefined, document: number, path: Path) {
  return documents?.find((one) => one.index === document)?.fields.find((field) => same(field.path, path))
}
