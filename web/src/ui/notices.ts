// Short messages about completed actions, shown in the corner; they disappear after a while.

import { ref } from 'vue'

export interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
}

export const notices = ref<Notice[]>([])
let next = 1

export function notify(kind: Notice['kind'], text: string): void {
  const id = next++
  notices.value = [...notices.value.slice(-3), { id, kind, text }]
  setTimeout(() => dismiss(id), kind === 'done' ? 5000 : 12_000)
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((n) => n.id !== id)
}
