// Starred kinds, kept in this browser.

import { useStorage } from '@vueuse/core'
import { computed } from 'vue'
import { parseStarred, starredSlugs, toggleStar, type Starred } from '../model/favourites'

/** Without storage the stars last as long as the page. */
const starred = useStorage<Starred>('favourites', parseStarred(null), undefined, {
  serializer: { read: parseStarred, write: (value) => JSON.stringify(value) },
  shallow: true,
  writeDefaults: false,
  listenToStorageChanges: false,
  onError: () => {},
})
export const favourites = computed(() => starredSlugs(starred.value))

export function toggleFavourite(slug: string): void {
  starred.value = toggleStar(starred.value, slug)
}
