// Starred kinds, kept in this browser.

import { computed, shallowRef } from 'vue'
import { parseStarred, starredSlugs, toggleStar } from '../model/favourites'

const storageKey = 'favourites'

function kept(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null
  }
}

const starred = shallowRef(parseStarred(kept()))
export const favourites = computed(() => starredSlugs(starred.value))

export function toggleFavourite(slug: string): void {
  starred.value = toggleStar(starred.value, slug)
  try {
    localStorage.setItem(storageKey, JSON.stringify(starred.value))
  } catch {
    // Storage can be switched off; the stars then last as long as the page.
  }
}
