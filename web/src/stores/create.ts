// The create dialog: open or not, and the draft that outlives closing it.

import { ref } from 'vue'
import { createObject } from '@/api/kubernetes'
import type { Creator } from '@/domain/batch'
import type { TemplateId } from '@/domain/templates'
import { loadKinds } from './discovery'

export const createOpen = ref(false)
export const draft = ref('')
/** The template that the draft is an unchanged copy of, if any. */
export const draftTemplate = ref<TemplateId>()

/** Opens the dialog; with a template it starts from that one unless a draft was changed by hand. */
export const wantedTemplate = ref<TemplateId>()
export function openCreate(template?: TemplateId): void {
  wantedTemplate.value = template
  createOpen.value = true
}

/** Talks to the API server for domain/batch. */
export const creator: Creator = {
  kinds: (fresh) => loadKinds(fresh),
  create: createObject,
  pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
}
