// What the header says about the place: set by the page that is shown.

import { onBeforeUnmount, ref, watchEffect, type Ref } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

export interface Crumb {
  text: string
  to?: RouteLocationRaw
  /** A number or remark beside the title, not a step of the way. */
  kind?: 'note'
  /** What a button beside it copies, and how that is called. */
  copy?: { text: string; label: string }
}

export const crumbs: Ref<Crumb[]> = ref([])

/** Shows what make returns in the header for as long as the calling component lives. */
export function useCrumbs(make: () => Crumb[], title: string): void {
  const stop = watchEffect(() => {
    crumbs.value = make()
    const last = crumbs.value.filter((c) => c.kind !== 'note').at(-1)
    document.title = last ? `${last.text} · ${title}` : title
  })
  onBeforeUnmount(stop)
}
