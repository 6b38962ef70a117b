import { expect, it } from 'vitest'
import type { ImportLack } from '@/api/transfer'
import { commandForAll, effectOf } from './lacks'

const lack = (kind: string, resource?: string): ImportLack => ({
  apiVersion: 'v1',
  kind,
  command: '',
  ...(resource ? { resource } : {}),
})

it('asks for everything in one command', () => {
  const classes = lack('PriorityClass', 'priorityclasses')
  const all = [classes, classes, lack('Workflow', 'workflows.argoproj.io'), lack('KubeSchedulerConfiguration')]
  expect(commandForAll(all)).toBe(
    'kubectl get priorityclasses,workflows.argoproj.io --all-namespaces -o yaml > more.yaml'
  )
  expect(commandForAll([classes, lack('KubeSchedulerConfiguration')])).toBeUndefined()
})

it('takes kinds that it does not know for owners of pods', () => {
  expect([effectOf(lack('Node')), effectOf(lack('Workflow'))]).toEqual(['Node', 'owner'])
})
