// The learner's progress, which the trunk and its branches share, because they have one origin.

import { useStorage } from '@vueuse/core'
import { noProgress, readProgress, type Progress } from '../model/progress'

/** Without storage it lasts as long as the page. */
export const progress = useStorage<Progress>('learn', noProgress(), undefined, {
  serializer: { read: readProgress, write: JSON.stringify },
  writeDefaults: false,
  onError: () => {},
})

/** The page is shown to a class: projector type, arrow keys, counted hands. It lasts as long as the tab. */
export const classMode = useStorage(
  'learn-class',
  false,
  typeof sessionStorage === 'undefined' ? undefined : sessionStorage,
  { writeDefaults: false, onError: () => {} }
)
