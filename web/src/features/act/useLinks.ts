// Links in the rows of large tables: plain anchors, because a RouterLink takes several times
// as long to change as the rest of the row.

import { useRouter } from 'vue-router'
import type { Place } from './model/links'
import { useStandsAlone } from './standsAlone'

export interface Links {
  /** undefined on a page that stands alone: an anchor without it is text. */
  hrefOf: (place: Place) => string | undefined
  /**
   * Opens the page of the anchor that was clicked, and reports whether one was. Clicks that
   * open a new tab or window are left to the browser.
   */
  follow: (event: MouseEvent) => boolean
}

export function useLinks(): Links {
  const router = useRouter()
  const alone = useStandsAlone()
  return {
    hrefOf: (place) => (alone ? undefined : router.resolve(place).href),
    follow(event) {
      const href = (event.target as HTMLElement).closest('a')?.getAttribute('href')
      if (!href) return false
      if (event.metaKey || event.altKey || event.ctrlKey || event.shiftKey || event.button) return true
      event.preventDefault()
      void router.push(href)
      return true
    },
  }
}
