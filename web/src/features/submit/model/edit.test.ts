import { expect, it } from 'vitest'
import { parse } from 'yaml'
import type { SubmitChange } from '@/api/types'
import { edited } from './edit'
import { sampleJob } from './submit'

const change = (suggestion: SubmitChange['suggestion']) => ({ suggestion }) as SubmitChange
const after = (suggestion: SubmitChange['suggestion']) =>
  parse(edited(sampleJob, change(suggestion)) ?? 'null') as {
    metadata: { labels: Record<string, string> }
    spec: { parallelism: number; template: { spec: Record<string, unknown> } }
  }

it('makes a change in the text of a Job', () => {
  expect(after({ kind: 'pods', count: 1 }).spec.parallelism).toBe(1)
  expect(after({ kind: 'queue', localQueue: 'b' }).metadata.labels['kueue.x-k8s.io/queue-name']).toBe('b')
  expect(after({ kind: 'request', resource: 'cpu', amount: '500m' }).spec.template.spec.containers).toMatchObject([
    { resources: { requests: { cpu: '500m' } } },
  ])
  const tolerations = [{ key: 'spot', operator: 'Equal', value: 'true', effect: 'NoSchedule' }]
  expect(after({ kind: 'flavor', flavor: 'spot', tolerations }).spec.template.spec.tolerations).toEqual(tolerations)
})

it('leaves to the author what it cannot tell', () => {
  expect(edited(sampleJob, change({ kind: 'priority', priority: 7 }))).toBeUndefined()
  expect(edited(`${sampleJob}---\n${sampleJob}`, change({ kind: 'pods', count: 1 }))).toBeUndefined()
  expect(edited('kind: Pod\n', change({ kind: 'pods', count: 1 }))).toBeUndefined()
  expect(edited(sampleJob, { suggestion: undefined })).toBeUndefined()
})
