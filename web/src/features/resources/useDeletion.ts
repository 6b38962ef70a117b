// Deletes several objects, a few at a time.

import { ref, shallowRef, type Ref, type ShallowRef } from 'vue'
import { useI18n } from 'vue-i18n'
import { deleteObject } from '@/api/kubernetes'
import { pool } from '@/api/pool'
import type { KindInfo } from '@/api/types'
import { splitKey } from '@/kubernetes/object'
import { notify } from '@/ui/notices'

export interface Deletion {
  phase: Ref<'asking' | 'deleting' | 'done'>
  /** Keys of the objects that are not deleted yet. */
  left: ShallowRef<readonly string[]>
  /** The number of objects that the current run has processed. */
  done: Ref<number>
  failed: ShallowRef<readonly { key: string; message: string }[]>
  /** Deletes the remaining objects; a second call retries those that failed. */
  remove(): Promise<void>
  /** Starts no further requests. */
  stop(): void
}

/** The number of concurrent requests. */
const width = 8

/** gone is called with the keys that a run deleted; finished is called after a run without failures. */
export function useDeletion(of: Readonly<{ kind: KindInfo; keys: readonly string[] }>, gone: (keys: readonly string[]) => void, finished: () => void): Deletion {
  const { t } = useI18n()
  const phase = ref<'asking' | 'deleting' | 'done'>('asking')
  const left = shallowRef<readonly string[]>(of.keys)
  const done = ref(0)
  const failed = shallowRef<readonly { key: string; message: string }[]>([])
  let stopped = false

  async function remove() {
    phase.value = 'deleting'
    stopped = false
    done.value = 0
    const deleted: string[] = []
    const problems: { key: string; message: string }[] = []
    await pool(left.value, width, async (key) => {
      if (stopped) return
      const parts = of.kind.namespaced ? splitKey(key) : undefined
      try {
        await deleteObject(of.kind, parts?.namespace, parts?.name ?? key)
        deleted.push(key)
      } catch (error) {
        problems.push({ key, message: error instanceof Error ? error.message : String(error) })
      }
      done.value++
    })
    const away = new Set(deleted)
    left.value = left.value.filter((key) => !away.has(key))
    failed.value = problems
    phase.value = 'done'
    if (deleted.length) notify('done', t('resources.deleted', deleted.length))
    gone(deleted)
    if (!problems.length) finished()
  }

  return {
    phase,
    left,
    done,
    failed,
    remove,
    stop() {
      stopped = true
    },
  }
}
