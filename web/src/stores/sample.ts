// The sample cluster in one click.

import { ApiError } from '@/api/http'
import { createAll } from '@/domain/batch'
import { sampleCluster } from '@/domain/templates'
import { currentFreeNames } from './cluster'
import { creator } from './create'

/** Creates it and returns how many objects were made. Throws what stopped it. */
export async function createSample(): Promise<number> {
  const { parseText } = await import('@/domain/documents')
  const result = await createAll(parseText(sampleCluster(currentFreeNames())).entries, creator)
  const failed = result.items.find((i) => i.state.kind === 'failed')
  if (failed?.state.kind === 'failed') {
    const { message, code, causes } = failed.state.refusal
    throw new ApiError(message, code, [], causes)
  }
  return result.created
}
