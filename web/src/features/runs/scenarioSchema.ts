// The schema of scenario files, for completion in the editor.

import { getRunSchema } from '@/api/runs'
import type { Schema, SchemaRoot, SchemaSource } from '@/features/yaml/model/schema'

const head = { apiVersion: 'kube-scheduler-simulator.sigs.k8s.io/v1alpha1', kind: 'Scenario' }

let loading: Promise<SchemaRoot | undefined> | undefined

function load(): Promise<SchemaRoot | undefined> {
  loading ??= getRunSchema().then(
    (schema) => ({ schema: plain(schema as Schema), resolve: () => undefined }),
    () => {
      loading = undefined
      return undefined
    },
  )
  return loading
}

/** Of alternatives, completion can offer the fields of the mapping only. */
function plain(schema: Schema): Schema {
  const mapping = schema.anyOf?.find((one) => one.properties)
  const rest: Schema = { ...schema, ...mapping, ...(schema.description ? { description: schema.description } : {}) }
  delete rest.anyOf
  return {
    ...rest,
    ...(rest.properties ? { properties: Object.fromEntries(Object.entries(rest.properties).map(([name, inner]) => [name, plain(inner)])) } : {}),
    ...(rest.items ? { items: plain(rest.items) } : {}),
  }
}

export const scenarioSchema: SchemaSource = {
  root: ({ kind }) => (kind === head.kind ? load() : Promise.resolve(undefined)),
  heads: () => Promise.resolve([head]),
}
