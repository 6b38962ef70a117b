// Marks the element that a step of a lesson points at, as soon as the page has it.

import { onScopeDispose, ref, watch, type Ref } from 'vue'

/**
 * `testid` is the data-testid of the element; '' marks nothing. The mark is an attribute, which
 * Vue leaves alone when it
 * renders the element again.
 */
export function useMark(testid: Ref<string>, key: () => unknown): { marked: Ref<boolean> } {
  const marked = ref(false)
  let element: Element | undefined
  const clear = () => element?.removeAttribute('data-lesson-mark')
  function mark(): void {
    const found = testid.value
      ? (document.querySelector(`main [data-testid="${CSS.escape(testid.value)}"]`) ?? undefined)
      : undefined
    if (found === element && found?.hasAttribute('data-lesson-mark')) return
    const isNew = found !== element
    clear()
    element = found
    marked.value = !!found
    found?.setAttribute('data-lesson-mark', '')
    if (isNew) found?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }
  let asked = false
  const observer = new MutationObserver(() => {
    if (asked) return
    asked = true
    requestAnimationFrame(() => {
      asked = false
      mark()
    })
  })
  watch(
    [testid, key],
    () => {
      const main = document.getElementById('main')
      observer.disconnect()
      // A page under way replaces elements; nothing has to be watched when nothing is to be marked.
      if (main && testid.value) observer.observe(main, { childList: true, subtree: true })
      mark()
    },
    { immediate: true, flush: 'post' }
  )
  onScopeDispose(() => {
    observer.disconnect()
    clear()
  })
  return { marked }
}
