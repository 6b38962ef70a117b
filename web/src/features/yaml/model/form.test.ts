import { describe, expect, it } from 'vitest'
import { formOf, withValue, type FormField } from './form'

const text = `# A pod.
apiVersion: v1
kind: Pod
metadata:
  name: web # its name
  labels:
    app.kubernetes.io/name: web
spec:
  priority: 10
  hostNetwork: false
  nodeName:
  containers:
  - {name: c, image: 'a:1'}
  note: |
    two
    lines
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
`
const field = (label: string, of = text) => formOf(of)?.flatMap((d) => d.fields).find((f) => f.label === label) as FormField

describe('formOf', () => {
  it('finds the scalar values of each document', () => {
    expect(formOf(text)?.map((d) => `${d.apiVersion} ${d.kind} ${d.name}: ${d.fields.map((f) => `${f.label}=${String(f.value)}`).join(' ')}`)).toEqual([
      'v1 Pod web: apiVersion=v1 kind=Pod metadata.name=web metadata.labels[app.kubernetes.io/name]=web spec.priority=10 spec.hostNetwork=false spec.nodeName=null spec.containers[0].name=c spec.containers[0].image=a:1',
      'v1 Namespace shop: apiVersion=v1 kind=Namespace metadata.name=shop',
    ])
  })
  it('returns nothing for a text that cannot be parsed', () => {
    expect(formOf('a: [\n')).toBeUndefined()
    expect(formOf('')).toEqual([])
  })
})

describe('withValue', () => {
  const changed = (label: string, typed: string, type: 'string' | 'number' | 'boolean' = 'string') => {
    const lines = text.split('\n')
    return withValue(text, field(label), typed, type).split('\n').filter((line, i) => line !== lines[i])
  }
  it('changes one value and nothing else', () => {
    expect(changed('metadata.name', 'api')).toEqual(['  name: api # its name'])
    expect(changed('spec.containers[0].image', 'b:2')).toEqual(['  - {name: c, image: b:2}'])
    expect(changed('spec.nodeName', 'n1')).toEqual(['  nodeName: n1'])
  })
  it('keeps the type of the field', () => {
    expect(changed('spec.priority', '20', 'number')).toEqual(['  priority: 20'])
    expect(changed('spec.hostNetwork', 'true', 'boolean')).toEqual(['  hostNetwork: true'])
    expect(changed('metadata.labels[app.kubernetes.io/name]', '20')).toEqual(['    app.kubernetes.io/name: "20"'])
  })
})
