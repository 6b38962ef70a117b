// A link that changes the weight of a plugin: /scheduler?weight=Plugin=5 starts, or continues, a draft.

import { watch } from 'vue'
import { useQuery } from '@/ui/query'
import { parseWeight, withWeight } from './model/dial'
import { draft, write } from './store/configuration'

export function useWeightLink(): void {
  const wanted = useQuery('weight')
  watch(
    [wanted, () => !!draft.value],
    ([text, known]) => {
      if (!text || !known || !draft.value) return
      const change = parseWeight(text)
      if (change) write(withWeight(draft.value.text, { plugin: change.plugin, point: 'score' }, change.weight))
      // The change is made once; it must not come back with a reload.
      wanted.value = ''
    },
    { immediate: true }
  )
}
