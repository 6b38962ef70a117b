// Short messages about completed actions, shown in the corner; they disappear after a while,
// but not while the pointer or the focus is on them.

import { ref } from 'vue'
import { messageOf } from '@/api/message'

export interface Notice {
  id: number
  kind: 'done' | 'failed'
  text: string
  /** What the message offers to do, such as undoing the action. */
  actions: readonly NoticeAction[]
  /** The message gets the focus, because the control that had it is gone. */
  focus?: boolean
}

export interface NoticeAction {
  label: string
  run: () => void
}

export const notices = ref<Notice[]>([])
const timers = new Map<number, ReturnType<typeof setTimeout>>()
let next = 1

/** Returns the message's ID. */
export function notify(kind: Notice['kind'], text: string, action?: NoticeAction, focus = false): number {
  const notice: Notice = { id: next++, kind, text, actions: action ? [action] : [], focus }
  for (const old of notices.value.slice(0, -3)) dismiss(old.id)
  notices.value = [...notices.value, notice]
  release(notice)
  return notice.id
}

/** Says more in a message that is still shown. */
export function amend(id: number, more: Pick<Notice, 'text' | 'actions'>): void {
  const notice = notices.value.find((one) => one.id === id)
  if (notice) release(Object.assign(notice, more))
}

export const notifyFailure = (error: unknown): void => void notify('failed', messageOf(error))

export function dismiss(id: number): void {
  hold(id)
  notices.value = notices.value.filter((n) => n.id !== id)
}

/** Keeps a message until release. */
export function hold(id: number): void {
  clearTimeout(timers.get(id))
  timers.delete(id)
}

/** Starts the time after which a message disappears: longer if there is something to decide. */
export function release({ id, kind, actions }: Notice): void {
  hold(id)
  timers.set(
    id,
    setTimeout(() => dismiss(id), kind === 'done' && !actions.length ? 5000 : 12_000)
  )
}
