// The schemas of scenario and sweep files, for completion in the editor.

import { getRunSchema } from '@/api/runs'
import type { Schema, SchemaRoot, SchemaSource } from '@/features/yaml/model/schema'

type Kind = 'Scenario' | 'Sweep'
const apiVersion = 'kube-scheduler-simulator.sigs.k8s.io/v1alpha1'

const loading = new Map<Kind, Promise<SchemaRoot | undefined>>()

function load(kind: Kind): Promise<SchemaRoot | undefined> {
  const loaded =
    loading.get(kind) ??
    getRunSchema(kind).then(
      (schema) => ({ schema: plain(schema as Schema), resolve: () => undefined }),
      () => {
        loading.delete(kind)
        return undefined
      }
    )
  loading.set(kind, loaded)
  return loaded
}

/** Of alternatives, completion can offer the fields of the mapping only. */
function plain(schema: Schema): Schema {
  const mapping = schema.anyOf?.find((one) => one.properties)
  const rest: Schema = { ...schema, ...mapping, ...(schema.description ? { description: schema.description } : {}) }
  delete rest.anyOf
  return {
    ...rest,
    ...(rest.properties
      ? { properties: Object.fromEntries(Object.entries(rest.properties).map(([name, inner]) => [name, plain(inner)])) }
      : {}),
    ...(rest.items ? { items: plain(rest.items) } : {}),
  }
}

const schemaOf = (only: Kind): SchemaSource => ({
  root: ({ kind }) => (kind === only ? load(only) : Promise.resolve(undefined)),
  heads: () => Promise.resolve([{ apiVersion, kind: only }]),
})

export const scenarioSchema = schemaOf('Scenario')
export const sweepSchema = schemaOf('Sweep')
