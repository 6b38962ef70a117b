import { expect, it } from 'vitest'
import { parseText } from '@/features/yaml/model/documents'
import { freeNames } from './freeNames'
import { templateOfResource } from './templateIds'
import { templates, type Template } from './templates'

const empty = () => freeNames({ nodes: new Set<string>(), pods: new Set<string>() })
const objectsOf = (template: Template, free = empty()) => parseText(template.make(free).text)
const name = (of: { kind: string; name: string }) => `${of.kind} ${of.name}`

it.each(templates)('$id parses', (template) => {
  const { entries, problems } = objectsOf(template)
  expect(problems).toEqual([])
  expect(entries.length).toBeGreaterThan(0)
})

it.each(templates.filter((t) => t.make(empty()).expected.length))(
  '$id has a node and pods of its own, which a second one does not share',
  (template) => {
    const first = objectsOf(template).entries
    expect(first.map((e) => e.kind)).toContain('Node')
    const nodes = new Set(first.filter((e) => e.kind === 'Node').map((e) => e.name))
    const pods = new Set(first.filter((e) => e.kind === 'Pod').map((e) => `default/${e.name}`))
    const taken = new Set(first.map(name))
    expect(
      objectsOf(template, freeNames({ nodes, pods }))
        .entries.map(name)
        .filter((n) => taken.has(n))
    ).toEqual([])
  }
)

it('keeps the pods of a situation on its own nodes', () => {
  for (const template of templates.filter((t) => t.make(empty()).expected.length)) {
    const { text } = template.make(empty())
    const pods = text.split('---\n').filter((document) => /containers:/.test(document))
    // Either by a label, or directly.
    expect(
      pods.filter((pod) => !/nodeName: |example: \S|key: example/.test(pod)),
      template.id
    ).toEqual([])
  }
})

it('has a start for the workloads that a schema’s required fields do not describe', () => {
  expect(templateOfResource['statefulsets.apps']).toBe('statefulSet')
})
