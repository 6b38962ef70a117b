import { describe, expect, it } from 'vitest'
import { isQuantity, validate, type Finding } from './validation'
import type { Schema, SchemaRoot } from './schema'

const schemas: Record<string, Schema> = {
  'io.k8s.apimachinery.pkg.api.resource.Quantity': {
    description: 'An amount.',
    oneOf: [{ type: 'string' }, { type: 'number' }],
  },
  Container: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      image: { type: 'string' },
      port: { type: 'integer' },
      tty: { type: 'boolean' },
      policy: { type: 'string', enum: ['Always', 'Never', ''] },
      probe: { 'x-kubernetes-int-or-string': true },
      resources: {
        type: 'object',
        properties: {
          requests: {
            type: 'object',
            additionalProperties: { $ref: '#/io.k8s.apimachinery.pkg.api.resource.Quantity' },
          },
        },
      },
    },
  },
}
const root: SchemaRoot = {
  resolve: (ref) => schemas[ref.slice(2)],
  schema: {
    type: 'object',
    properties: {
      metadata: {
        type: 'object',
        properties: { labels: { type: 'object', additionalProperties: { type: 'string' } } },
      },
      spec: {
        type: 'object',
        properties: {
          containers: { type: 'array', items: { allOf: [{ $ref: '#/Container' }] } },
          any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
      },
    },
  },
}
const line = (f: Finding) => `${f.path} ${f.kind}${'value' in f ? ` ${f.value}` : ''}${'type' in f ? ` ${f.type}` : ''}`
const found = (value: unknown) => validate(value, root).map(line)
const container = (c: unknown) => found({ spec: { containers: [c] } })

describe('validate', () => {
  it('accepts what the schema describes', () => {
    expect(
      container({
        name: 'c',
        image: 'i',
        port: 80,
        tty: true,
        policy: 'Always',
        probe: 'http',
        resources: { requests: { cpu: '500m', memory: 1 } },
      })
    ).toEqual([])
    expect(found({ metadata: { labels: { 'a.b/c': 'x' } }, spec: { any: { thing: [1] } } })).toEqual([])
  })
  it('finds a quantity that is none, at its path', () => {
    expect(container({ name: 'c', resources: { requests: { cpu: 'six', 'example.com/gpu': '1x' } } })).toEqual([
      'spec.containers[0].resources.requests.cpu notQuantity six',
      'spec.containers[0].resources.requests[example.com/gpu] notQuantity 1x',
    ])
  })
  it('finds unknown fields, each once', () => {
    expect(found({ spec: { contaners: [], containers: [{ imagee: 'i' }] } })).toEqual([
      'spec.contaners unknownField',
      'spec.containers[0].imagee unknownField',
    ])
  })
  it('finds values of another type', () => {
    expect(container({ name: 5, port: '80', tty: 'yes', image: null })).toEqual([
      'spec.containers[0].name wrongType string',
      'spec.containers[0].port wrongType integer',
      'spec.containers[0].tty wrongType boolean',
    ])
    expect(found({ metadata: { labels: { a: true } }, spec: { containers: { name: 'c' } } })).toEqual([
      'metadata.labels.a wrongType string',
      'spec.containers wrongType list',
    ])
    expect(found({ spec: 'x' })).toEqual(['spec wrongType map'])
  })
  it('finds a value that the schema does not list', () => {
    expect(container({ policy: 'always' })).toEqual(['spec.containers[0].policy notAllowed always'])
  })
})

it('reads quantities as Kubernetes does', () => {
  expect(['1', '0.5', '.5', '500m', '4Gi', '1e3', '-1', '100n', '2E', 3].filter((q) => !isQuantity(q))).toEqual([])
  expect(['six', '', '1 Gi', '1GiB', '5 cpu', '1kk', true, null].filter(isQuantity)).toEqual([])
})
