// Playing: the playhead moves by itself, until it reaches the present.

import { useIntervalFn } from '@vueuse/core'
import { ref, watch, type Ref } from 'vue'

/** The playhead moves this often (ms): often enough to follow, seldom enough to load each moment. */
const pace = 500

export function usePlaying(
  time: Ref<number | undefined>,
  end: Ref<number>,
  go: (at: number | undefined) => void
): { playing: Ref<boolean>; speed: Ref<string> } {
  const playing = ref(false)
  const speed = ref('10')
  const { pause, resume } = useIntervalFn(
    () => {
      const next = (time.value ?? end.value) + pace * Number(speed.value)
      if (next < end.value) return go(next)
      playing.value = false
      go(undefined)
    },
    pace,
    { immediate: false }
  )
  watch(playing, (is) => (is ? resume() : pause()))
  watch(time, (is) => is === undefined && (playing.value = false))
  return { playing, speed }
}
