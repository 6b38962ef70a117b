// A lesson's sandbox: a branch of the trunk that exists while the lesson is open.

import { shallowRef, ref, type Ref, type ShallowRef } from 'vue'
import { createBranch, deleteBranch, listBranches, startBranch, type Branch } from '@/api/branches'

/** Enters lessons. `others` are the open sandboxes of other lessons when there is no room for one more. */
export function useSandbox(): {
  entering: Ref<boolean>
  error: ShallowRef<unknown>
  others: ShallowRef<Branch[]>
  enter: (id: string, query?: string) => Promise<void>
  close: (branch: Branch) => Promise<void>
} {
  const entering = ref(false)
  const error = shallowRef<unknown>()
  const others = shallowRef<Branch[]>([])

  /** The page of the branch shows how it starts. */
  const enter = async (id: string, query = '') => {
    entering.value = true
    error.value = undefined
    try {
      const mine = await sandboxOf(id)
      window.location.assign(`${mine.path}learn/${encodeURIComponent(id)}${query}`)
    } catch (e) {
      error.value = e
      entering.value = false
      others.value = (await listBranches().catch(() => [])).filter(
        ({ purpose, lesson }) => purpose === 'lesson' && lesson !== id
      )
    }
  }
  const close = async ({ name }: Branch) => {
    try {
      await deleteBranch(name)
      others.value = others.value.filter((other) => other.name !== name)
      error.value = undefined
    } catch (e) {
      error.value = e
    }
  }
  return { entering, error, others, enter, close }
}

/** The lesson's open sandbox, or a new one. One that failed is replaced. */
async function sandboxOf(id: string): Promise<Branch> {
  const open = (await listBranches()).find(({ lesson }) => lesson === id)
  if (open?.state === 'failed') await deleteBranch(open.name)
  else if (open) return open.state === 'stopped' ? startBranch(open.name) : open
  return createBranch({ purpose: 'lesson', lesson: id })
}
