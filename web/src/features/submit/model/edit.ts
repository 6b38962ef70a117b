// A change that was suggested, made in the text of the job.

import { isMap, isSeq, parseDocument } from 'yaml'
import type { SubmitChange } from '@/api/types'

const queueLabel = 'kueue.x-k8s.io/queue-name'

/** The text with the change; nothing for a change, or a text, that only its author can edit. */
export function edited(text: string, { suggestion }: Pick<SubmitChange, 'suggestion'>): string | undefined {
  if (!suggestion || /^---\s*$/m.test(text.trim().replace(/^---\s*\n/, ''))) return undefined
  const job = parseDocument(text)
  if (job.errors.length || job.get('kind') !== 'Job') return undefined
  switch (suggestion.kind) {
    case 'pods':
      job.setIn(['spec', 'parallelism'], suggestion.count)
      break
    case 'queue':
      job.setIn(['metadata', 'labels', queueLabel], suggestion.localQueue)
      break
    case 'request': {
      const containers = job.getIn(['spec', 'template', 'spec', 'containers'])
      const extra = job.getIn(['spec', 'template', 'spec', 'initContainers'])
      if (!isSeq(containers) || containers.items.length !== 1 || extra || !isMap(containers.items[0])) return undefined
      if (job.hasIn(['spec', 'template', 'spec', 'containers', 0, 'resources', 'limits'])) return undefined
      const path = ['spec', 'template', 'spec', 'containers', 0, 'resources', 'requests', suggestion.resource ?? '']
      job.setIn(path, suggestion.amount)
      break
    }
    case 'flavor': {
      const path = ['spec', 'template', 'spec', 'tolerations']
      for (const one of suggestion.tolerations ?? []) {
        if (job.hasIn(path)) job.addIn(path, one)
        else job.setIn(path, [one])
      }
      for (const key of suggestion.selectors ?? []) job.deleteIn(['spec', 'template', 'spec', 'nodeSelector', key])
      break
    }
    // A priority is that of a class, which its author chooses.
    default:
      return undefined
  }
  return job.toString({ lineWidth: 0 })
}
