// Messages that the first page does not need: those of dialogs and of pages that are rarely opened.

import { act } from './act'
import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { replay } from './replay'

export const deferred = { ...act, ...importing, ...nodeAction, ...replay }

export type DeferredMessages = typeof deferred
