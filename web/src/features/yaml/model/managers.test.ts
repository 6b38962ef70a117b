import { describe, expect, it } from 'vitest'
import type { KubeObject } from '@/api/types'
import { toYaml } from './documents'
import { authorsByLine, fieldsByLine, managersOf } from './managers'

const account = (manager: string, fieldsV1: object) => ({
  manager,
  operation: 'Apply',
  fieldsType: 'FieldsV1',
  fieldsV1,
})

/** kubectl applied it, a controller manages the count, and the web added a label and a port. */
const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    labels: { app: 'web', 'example.com/team': 'red' },
    managedFields: [
      account('kubectl', {
        'f:metadata': { 'f:labels': { 'f:app': {} } },
        'f:spec': {
          'f:template': {
            'f:spec': { 'f:containers': { 'k:{"name":"c"}': { '.': {}, 'f:name': {}, 'f:image': {} } } },
          },
        },
      }),
      account('autoscaler', { 'f:spec': { 'f:replicas': {} } }),
      account('simulator-web', {
        'f:metadata': {
          'f:labels': { 'f:app': {}, 'f:example.com/team': {} },
          'f:finalizers': { 'v:"example.com/keep"': {} },
        },
        'f:spec': {
          'f:template': {
            'f:spec': {
              'f:containers': {
                'k:{"name":"side"}': {
                  'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { 'f:containerPort': {}, 'f:protocol': {} } },
                },
              },
            },
          },
        },
      }),
    ],
    finalizers: ['example.com/keep'],
  },
  spec: {
    replicas: 3,
    template: {
      spec: {
        containers: [
          { name: 'c', image: 'i' },
          { name: 'side', ports: [{ containerPort: 80, protocol: 'TCP' }] },
        ],
        tolerations: [{ key: 'node.kubernetes.io/not-ready' }],
      },
    },
  },
  status: { replicas: 3 },
} as unknown as KubeObject

describe('managersOf', () => {
  const of = (...path: (string | number)[]) => managersOf(deployment, path)

  it('reads fields, also those with dots in their names', () => {
    expect(of('spec', 'replicas')).toEqual(['autoscaler'])
    expect(of('metadata', 'labels', 'example.com/team')).toEqual(['simulator-web'])
    expect(of('metadata', 'labels', 'app')).toEqual(['kubectl', 'simulator-web'])
  })
  it('finds items of lists by their keys and values', () => {
    expect(of('spec', 'template', 'spec', 'containers', 0, 'image')).toEqual(['kubectl'])
    expect(of('spec', 'template', 'spec', 'containers', 1, 'ports', 0, 'protocol')).toEqual(['simulator-web'])
    expect(of('metadata', 'finalizers', 0)).toEqual(['simulator-web'])
  })
  it('treats a list that is managed as a whole as one field', () => {
    const node = {
      metadata: { name: 'n', managedFields: [account('kubectl', { 'f:spec': { 'f:taints': {} } })] },
      spec: { taints: [{ key: 'a' }] },
    } as unknown as KubeObject
    expect(managersOf(node, ['spec', 'taints', 0, 'key'])).toEqual(['kubectl'])
  })
  it('names no manager for fields that the server or admission set', () => {
    expect(of('metadata', 'name')).toEqual([])
    expect(of('spec', 'template', 'spec', 'tolerations', 0, 'key')).toEqual([])
    expect(managersOf({ metadata: { name: 'bare' } } as KubeObject, ['spec'])).toEqual([])
  })
})

describe('fieldsByLine', () => {
  it('returns the field of each line, and none for lines that only open a map or a list', () => {
    const text = 'a:\n  b.c/d: 1\n  e:\n  - f: x\n    g: |\n      one\n      two\n  - {}\n  h: [1, 2]\n'
    expect([...fieldsByLine(text)].map(([line, path]) => `${line} ${path.join(' ')}`)).toEqual([
      '2 a b.c/d',
      '4 a e 0 f',
      '5 a e 0 g',
      '6 a e 0 g',
      '7 a e 0 g',
      '8 a e 1',
      '9 a h 1',
    ])
  })
})

describe('authorsByLine', () => {
  const said = (object: KubeObject, written?: KubeObject) => {
    const text = toYaml(object)
    const lines = text.split('\n')
    return [...authorsByLine(object, text, { ours: 'simulator-web', written })].map(
      ([line, author]) =>
        `${lines[line - 1]?.trim()} ← ` +
        `${author.kind === 'others' ? [...author.names, ...(author.you ? ['you'] : [])].join(', ') : author.kind}`
    )
  }

  it('distinguishes written fields, defaults and fields that admission added', () => {
    const kept = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'p',
        uid: 'u',
        managedFields: [
          account('simulator-web', {
            'f:spec': {
              'f:containers': { 'k:{"name":"c"}': { 'f:name': {}, 'f:image': {}, 'f:imagePullPolicy': {} } },
              'f:restartPolicy': {},
            },
          }),
        ],
      },
      spec: {
        containers: [{ name: 'c', image: 'i', imagePullPolicy: 'Always' }],
        restartPolicy: 'Always',
        priority: 0,
      },
    } as unknown as KubeObject
    const written = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    } as unknown as KubeObject
    expect(said(kept, written)).toEqual([
      'apiVersion: v1 ← you',
      'kind: Pod ← you',
      'name: p ← you',
      'uid: u ← server',
      '- name: c ← you',
      'image: i ← you',
      'imagePullPolicy: Always ← default',
      'restartPolicy: Always ← default',
      'priority: 0 ← admission',
    ])
  })
  it('names other managers, also those that share a field with you', () => {
    expect(said(deployment)).toEqual(
      expect.arrayContaining([
        'app: web ← kubectl, you',
        'replicas: 3 ← autoscaler',
        'example.com/team: red ← you',
        'image: i ← kubectl',
      ])
    )
  })
})
