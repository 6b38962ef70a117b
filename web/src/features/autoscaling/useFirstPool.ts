// The first NodePool: the definitions that it takes, and an example.

import { promiseTimeout } from '@vueuse/core'
import { ApiError, newAction } from '@/api/http'
import { installDefinition } from '@/api/definitions'
import { createObject } from '@/api/kubernetes'
import { t } from '@/i18n'
import { nodePoolKind } from '@/kubernetes/autoscaling'
import { loadKinds } from '@/live/discovery'
import { notify } from '@/ui/notices'
import { useAttempt } from '@/ui/useAttempt'
import { definitions, examplePool } from './model/pool'

/** The API server serves a kind a moment after its definition is there (ms). */
const pause = 250
const tries = 40

export function useFirstPool(served: () => boolean | undefined) {
  const { busy, error, attempt } = useAttempt()
  async function create(): Promise<void> {
    const action = newAction('')
    for (let left = tries; ; left--) {
      try {
        await createObject(nodePoolKind, undefined, examplePool, false, action)
        return
      } catch (reason) {
        if (!(reason instanceof ApiError) || reason.code !== 404 || left <= 1) throw reason
        await promiseTimeout(pause)
      }
    }
  }
  return {
    busy,
    error,
    begin: () =>
      attempt(async () => {
        if (!served()) for (const name of definitions) await installDefinition(name)
        await create()
        await loadKinds(true)
        notify('done', t('create.done', { names: examplePool.metadata.name }))
      }),
  }
}
