// Messages that the first page does not need: those of dialogs and of pages that are rarely opened.

import { importing } from './importing'
import { nodeAction } from './nodeAction'
import { replay } from './replay'
import { score } from './score'

export const deferred = { ...importing, ...nodeAction, ...replay, ...score }

export type DeferredMessages = typeof deferred
