// Which of export, import, reset and replay the server supports.

import { shallowRef } from 'vue'
import * as api from '@/api/transfer'
import type { Transfer } from '@/api/transfer'

/** undefined until the server has answered; requested on first use. */
export const transfers = shallowRef<ReadonlySet<Transfer>>()
let asking: Promise<void> | undefined

export function loadTransfers(): Promise<void> {
  asking ??= api
    .servedTransfers()
    .then((served) => {
      transfers.value = served
    })
    .catch(() => {
      transfers.value = undefined
    })
    .finally(() => {
      asking = undefined
    })
  return asking
}
