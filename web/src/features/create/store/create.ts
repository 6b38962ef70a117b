// The create dialog: whether it is open, and its draft, which survives closing the dialog
// and reloading the page.

import { promiseTimeout } from '@vueuse/core'
import { ref, shallowRef, watch } from 'vue'
import { ownKey } from '@/api/base'
import { applyObject, createObject, getObject } from '@/api/kubernetes'
import type { KindInfo } from '@/api/types'
import type { Creator } from '../model/batch'
import { apiVersionOf, kindSlug } from '@/kubernetes/kinds'
import { skeleton } from '@/features/yaml/model/schema'
import { freeNames } from '../model/freeNames'
import { templateOfResource, type TemplateId } from '../model/templateIds'
import { loadKinds } from '@/live/discovery'
import { nodes, pods } from '@/live/watched'
import { kindSchema } from '@/features/yaml/store/schema'

const key = ownKey('draft')
const longestKept = 1_000_000

function kept(): string {
  try {
    return sessionStorage.getItem(key) ?? ''
  } catch {
    return ''
  }
}

export const createOpen = ref(false)
export const draft = ref(kept())
/** The template whose text the draft still equals, if any. */
export const draftTemplate = ref<TemplateId>()
/** What the dialog has made last: the message that says so, and the objects. */
export const made = shallowRef<{ notice: number; text: string; objects: readonly MadeObject[] }>()
export interface MadeObject {
  kind: string
  namespace: string | undefined
  name: string
}
export const copies = ref(1)

let timer: ReturnType<typeof setTimeout> | undefined
watch(draft, () => {
  clearTimeout(timer)
  timer = setTimeout(() => {
    try {
      // A template is always available, and very long text would not fit.
      if (draft.value && !draftTemplate.value && draft.value.length < longestKept)
        sessionStorage.setItem(key, draft.value)
      else sessionStorage.removeItem(key)
    } catch {
      // Storage may be disabled or full; the draft then lasts as long as the page.
    }
  }, 400)
})

/** What the dialog should start from. If the user has changed the draft, the dialog asks first. */
export type Wanted = { template: TemplateId } | { text: string }
export const wanted = ref<Wanted>()

/** Opens the dialog, optionally with a template. */
export function openCreate(template?: TemplateId): void {
  wanted.value = template && { template }
  createOpen.value = true
}

export function openCreateText(text: string): void {
  wanted.value = { text }
  createOpen.value = true
}

/** Opens the dialog with a start for a kind: its template, or the required fields of its schema. */
export async function openCreateKind(kind: KindInfo): Promise<void> {
  const template = templateOfResource[kindSlug(kind)]
  if (template) return openCreate(template)
  const head = { apiVersion: apiVersionOf(kind), kind: kind.kind }
  openCreateText(skeleton(head, kind.namespaced, await kindSchema(head)))
}

/** The client of the API server for model/batch. */
export const creator: Creator = {
  kinds: (fresh) => loadKinds(fresh),
  create: createObject,
  get: (kind, namespace, name) => getObject(kind, namespace, name),
  apply: applyObject,
  pause: promiseTimeout,
}

export function currentFreeNames() {
  return freeNames({ nodes: new Set(nodes.value.items.keys()), pods: new Set(pods.value.items.keys()) })
}
