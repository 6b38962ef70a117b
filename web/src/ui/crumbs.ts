// The title and breadcrumbs in the header, set by the current page.

import { onBeforeUnmount, ref, watchEffect, type Ref } from 'vue'
import type { RouteLocationRaw } from 'vue-router'

export interface Crumb {
  text: string
  to?: RouteLocationRaw
  /** A number or note beside the title, not a breadcrumb. */
  kind?: 'note'
  /** The views of a place, one of which is shown: links in a row. The text names the row. */
  views?: readonly { text: string; to: RouteLocationRaw; current: boolean }[]
  /** The text that a button beside it copies, and the button's label. */
  copy?: { text: string; label: string }
}

export const crumbs: Ref<Crumb[]> = ref([])

/** Shows the result of `make` in the header while the calling component lives. */
export function useCrumbs(make: () => Crumb[], title: string): void {
  const stop = watchEffect(() => {
    crumbs.value = make()
    const last = crumbs.value.filter((c) => c.kind !== 'note').at(-1)
    const text = last?.views?.find(({ current }) => current)?.text ?? last?.text
    document.title = text ? `${text} · ${title}` : title
  })
  onBeforeUnmount(stop)
}
